#include "sim/sass/fold.h"

#include <algorithm>
#include <vector>

#include "isa/core/op.h"
#include "sim/sass/early.h"
#include "sim/sass/register_uses.h"

namespace palladion::sim::sass {
namespace {

using isa::Operation;

bool is_integer(isa::Type t) {
  return isa::kind(t) == isa::TypeKind::signed_int || isa::kind(t) == isa::TypeKind::unsigned_int;
}

class Folder {
 public:
  Folder(uint32_t start, const RegisterUses& uses, std::span<LoweredInstruction> code)
      : start_(start), uses_(uses), code_(code), merged_(code.size()) {}

  void run() {
    for (uint32_t pc = 0; pc < size(); ++pc)
      if (at(pc).instruction != nullptr) {
        fold_offset(pc);
        fold_conversion(pc);
        fold_sign(pc);
        fold_product(pc);
        fold_shift(pc);
        fold_predicate(pc);
        fold_descriptor(pc);
        keep_move(pc);
        guide_copy(pc);
      }
    if (size() > start_) prologue(start_);
    // The last of a chain takes in the one before it.
    for (uint32_t pc = size(); pc-- > 0;)
      if (at(pc).instruction != nullptr) {
        fold_pair(pc, &Folder::is_sum);
        fold_pair(pc, &Folder::is_logic);
      }
  }

 private:
  uint32_t size() const { return uses_.size(); }
  const MicroOp& at(uint32_t pc) const { return uses_.at(pc); }
  Operation does(uint32_t pc) const { return uses_.does(pc); }
  isa::Type type(uint32_t pc) const { return uses_.type(pc); }

  bool is_sum(uint32_t pc) const {
    return (does(pc) == Operation::add || does(pc) == Operation::subtract) && is_integer(type(pc)) &&
           isa::bits(type(pc)) >= 32 && type(pc) != isa::Type::u16x2 && type(pc) != isa::Type::s16x2;
  }
  bool is_logic(uint32_t pc) const {
    switch (does(pc)) {
      case Operation::and_:
      case Operation::or_:
      case Operation::xor_:
      case Operation::not_:
      case Operation::logic3:
        return isa::bits(type(pc)) >= 32;
      default:
        return false;
    }
  }
  bool is_accessed(const Use& u) const {
    const isa::Footprint& f = uses_.footprint(u.pc);
    const bool access = !f.memory.empty() && f.memory.front().content == isa::Content::data && !f.issues();
    return u.address && (access || f.at(isa::Sync::Object::mbarrier));
  }

  // A constant added to an address is a part of it: [R + 128].
  void fold_offset(uint32_t pc) {
    if (is_sum(pc) && (uses_.constant(pc, 1) || uses_.constant(pc, 2)) &&
        uses_.all_uses(pc, [&](const Use& u) { return is_accessed(u); }))
      code_[pc].fold_as(Fold::offset, uses_.result(pc)->uses[0].pc);
  }

  // A register of 64 bits is two of 32: taking the lower one costs nothing, nor does a zero above it.
  void fold_conversion(uint32_t pc) {
    if (does(pc) != Operation::convert || at(pc).instruction->has("pack")) return;
    const isa::Type to = at(pc).instruction->type("dtype"), from = type(pc);
    if (!is_integer(to) || !is_integer(from) || isa::bits(from) < 32 || isa::bits(to) < 32) return;
    if (isa::bits(to) <= isa::bits(from) || isa::kind(from) == isa::TypeKind::unsigned_int)
      code_[pc].fold_as(Fold::half);
  }

  // -x and |x| are written at the operands of floating arithmetic, -x at those of sums.
  void fold_sign(uint32_t pc) {
    const bool absolute = does(pc) == Operation::absolute && !is_integer(type(pc));
    if (does(pc) != Operation::negate && !absolute) return;
    const isa::Type t = type(pc);
    if (uses_.all_uses(pc, [&](const Use& u) { return type(u.pc) == t && takes_sign(u.pc); }))
      code_[pc].fold_as(Fold::sign, uses_.result(pc)->uses[0].pc);
  }
  bool takes_sign(uint32_t pc) const {
    if (is_integer(type(pc))) return is_sum(pc);
    switch (does(pc)) {
      case Operation::add:
      case Operation::subtract:
      case Operation::multiply:
      case Operation::fused_multiply_add:
      case Operation::minimum:
      case Operation::maximum:
      case Operation::compare:
        return true;
      default:
        return false;
    }
  }

  // IMAD: a product that one sum takes; of 64 bits only when a factor is a constant.
  void fold_product(uint32_t pc) {
    if (does(pc) != Operation::multiply || code_[pc].is_folded() || !is_integer(type(pc)) ||
        at(pc).instruction->mod("half") == "hi" || !uses_.once(pc))
      return;
    const bool wide = at(pc).instruction->mod("half") == "wide";
    if (isa::bits(type(pc)) != 32 || (wide && !uses_.constant(pc, 2))) return;
    const uint32_t sum = uses_.result(pc)->uses[0].pc;
    if (!is_sum(sum) || merged_[sum] || isa::bits(type(sum)) != (wide ? 64 : 32)) return;
    code_[sum].fold_as(Fold::imad, pc);
    merged_[pc] = merged_[sum] = true;
  }

  // LEA: sums that take a shifted operand.
  void fold_shift(uint32_t pc) {
    if (does(pc) != Operation::shift_left || !uses_.constant(pc, 2) ||
        (isa::bits(type(pc)) == 64 && !uses_.once(pc)))
      return;
    const int width = isa::bits(type(pc));
    const auto takes = [&](const Use& u) {
      return !u.address && is_sum(u.pc) && !merged_[u.pc] && isa::bits(type(u.pc)) == width;
    };
    if (!uses_.all_uses(pc, takes)) return;
    code_[pc].fold_as(Fold::lea, uses_.result(pc)->uses[0].pc);
    for (const Use& u : uses_.result(pc)->uses) merged_[u.pc] = true;
  }

  // IADD3 and LOP3 have three inputs: one that only another of its kind reads is a part of that one.
  void fold_pair(uint32_t pc, bool (Folder::*kind)(uint32_t) const) {
    if (!(this->*kind)(pc) || merged_[pc] || code_[pc].is_folded()) return;
    for (size_t k = 1; k < at(pc).instruction->operands.size(); ++k) {
      const uint32_t before = uses_.definition(pc, k);
      if (before >= pc || !(this->*kind)(before) || merged_[before] || code_[before].is_folded() ||
          !uses_.once(before) || isa::bits(type(before)) != isa::bits(type(pc)) || inputs(pc, before) > 3)
        continue;
      code_[before].fold_as(Fold::third, pc);
      merged_[pc] = true;
      return;
    }
  }
  // Different registers that `pc` reads when it takes in `before`.
  size_t inputs(uint32_t pc, uint32_t before) const {
    std::vector<uint32_t> read;
    for (const uint32_t one : {before, pc})
      for (size_t k = 1; k < at(one).instruction->operands.size(); ++k) {
        const DecodedOperand& o = at(one).operands[k];
        if (o.kind != DecodedOperand::Kind::lanes || o.slot.constant) continue;
        if (one == pc && o.slot.offset == at(before).operands[0].slot.offset) continue;
        if (std::ranges::find(read, o.slot.offset) == read.end()) read.push_back(o.slot.offset);
      }
    return read.size();
  }
  // ISETP.AND: a comparison takes a predicate in.
  void fold_predicate(uint32_t pc) {
    if (!is_logic_of_predicates(pc)) return;
    for (const size_t k : {1, 2}) {
      const uint32_t before = uses_.definition(pc, k);
      if (before < pc && does(before) == Operation::compare && uses_.once(before))
        return code_[pc].fold_as(Fold::compared, before);
    }
  }

  bool is_logic_of_predicates(uint32_t pc) const {
    const Operation o = does(pc);
    return (o == Operation::and_ || o == Operation::or_ || o == Operation::xor_) &&
           type(pc) == isa::Type::pred;
  }

  // Descriptors are computed in the uniform datapath, 64 bits at a time.
  void fold_descriptor(uint32_t pc) {
    if (!is_sum(pc) || isa::bits(type(pc)) != 64) return;
    if (!uses_.all_uses(pc, [&](const Use& u) { return uses_.is_wgmma(u); })) return;
    keep(pc, 1);
    code_[pc].early = merged_[pc] = true;
  }

  // What is left of moves: S2R of a special register; the start of shared memory, from the CTA's place in its
  // cluster; the halves of descriptors; zeros of accumulators, two at a time.
  void keep_move(uint32_t pc) {
    if (does(pc) != Operation::move || !code_[pc].is_folded()) return;
    using Kind = isa::Operand::Kind;
    const isa::Operand& from = at(pc).instruction->operands[1];
    const auto to_wgmma = [&](const Use& u) { return uses_.is_wgmma(u); };
    if (from.is(Kind::special)) return keep(pc, 1);
    if (from.is(Kind::symbol)) return keep(pc, 3);
    if (from.is(Kind::vector) && uses_.all_uses(pc, to_wgmma)) return keep(pc, 1);
    if (!uses_.constant(pc, 1) || !accumulates(pc)) return;
    if (odd_ = !odd_; odd_) keep(pc, 1);
  }
  bool accumulates(uint32_t pc) const {
    const Register* const r = uses_.find(at(pc).operands[0].slot.offset);
    return r != nullptr && r->accumulates;
  }
  // In the uniform datapath.
  void keep(uint32_t pc, uint32_t slots) {
    code_[pc].fold = Fold::none;
    code_[pc].slots = slots;
    code_[pc].pipe = isa::Unit::uniform;
  }

  // A copy under a predicate: the address of its descriptor goes through uniform registers.
  void guide_copy(uint32_t pc) {
    constexpr uint32_t more = 8;
    const isa::Footprint& f = uses_.footprint(pc);
    const bool copies = f.issues(isa::AsyncFamily::tensor) || f.issues(isa::AsyncFamily::bulk);
    if (at(pc).guard >= 0 && copies && !is_settled(pc)) code_[pc].slots += more;
  }

  // A branch in front of it has gone elsewhere unless the predicate holds.
  bool is_settled(uint32_t pc) const {
    const Register* const guard = uses_.find(static_cast<uint32_t>(at(pc).guard));
    if (guard == nullptr || guard->definitions.size() != 1) return false;
    for (const Use& u : guard->uses)
      if (u.pc < pc && code_[u.pc].branches && uses_.target(u.pc) > pc && uses_.target(u.pc) < size() &&
          at(u.pc).guard == at(pc).guard && at(u.pc).guard_negated != at(pc).guard_negated)
        return true;
    return false;
  }

  // The stack pointer and the descriptor of GMEM.
  void prologue(uint32_t pc) {
    while (pc + 1 < size() && code_[pc].is_folded()) ++pc;
    code_[pc].slots += 2;
  }

  const uint32_t start_;
  const RegisterUses& uses_;
  std::span<LoweredInstruction> code_;
  std::vector<bool> merged_;  // has its third input
  bool odd_ = false;
};

}  // namespace

void fold(const Program& program, std::span<LoweredInstruction> code) {
  const RegisterUses uses(program);
  Folder(program.start, uses, code).run();
  place_early(program, uses, code);
}

}  // namespace palladion::sim::sass
