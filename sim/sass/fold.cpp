#include "sim/sass/fold.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "isa/core/op.h"
#include "sim/sass/uniform.h"

namespace palladion::sim::sass {
namespace {

using isa::Operation;

struct Use {
  uint32_t pc = 0;
  bool address = false;
};
struct Register {
  std::vector<uint32_t> definitions;  // ascending
  std::vector<Use> uses;
  bool accumulates = false;  // a wgmma reads it
};

bool is_integer(isa::Type t) {
  return isa::kind(t) == isa::TypeKind::signed_int || isa::kind(t) == isa::TypeKind::unsigned_int;
}

class Folder {
 public:
  Folder(const Program& program, std::span<LoweredInstruction> code)
      : program_(program), code_(code), merged_(code.size()), targets_(branch_targets(program)) {
    for (uint32_t pc = 0; pc < size(); ++pc) collect(pc);
  }

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
    if (size() > program_.start) prologue(program_.start);
    // The last of a chain takes in the one before it.
    for (uint32_t pc = size(); pc-- > 0;)
      if (at(pc).instruction != nullptr) {
        fold_pair(pc, &Folder::is_sum);
        fold_pair(pc, &Folder::is_logic);
      }
    for (uint32_t pc = 0; pc < size(); ++pc)
      if (code_[pc].branches) mark_spin(pc);
    for (uint32_t pc = 0; pc < size(); ++pc) {
      if (code_[pc].branches) {
        compare_early(pc);
        unroll(pc);
      }
      if (code_[pc].path == Path::async && code_[pc].unit == isa::Unit::tma) address_early(pc);
    }
  }

 private:
  uint32_t size() const { return static_cast<uint32_t>(code_.size()); }
  const MicroOp& at(uint32_t pc) const { return program_.code[pc]; }
  Operation does(uint32_t pc) const {
    return at(pc).instruction == nullptr ? Operation::other : isa::operation(*at(pc).instruction);
  }
  isa::Type type(uint32_t pc) const {
    const isa::Instruction& i = *at(pc).instruction;
    return i.form->slot("type") < 0 ? isa::Type::none : i.type();
  }

  void collect(uint32_t pc) {
    const MicroOp& op = at(pc);
    if (op.instruction == nullptr) return;
    if (op.guard >= 0) registers_[static_cast<uint32_t>(op.guard)].uses.push_back({pc});
    for (size_t k = 0; k < op.instruction->operands.size(); ++k) {
      const isa::OperandDef& def = op.instruction->form->operands[k];
      collect(pc, op.operands[k], def.writes, def.reads || !def.writes);
    }
  }
  void collect(uint32_t pc, const DecodedOperand& o, bool writes, bool reads) {
    using Kind = DecodedOperand::Kind;
    const bool address = o.kind == Kind::address;
    if ((o.kind == Kind::lanes || address) && !o.slot.constant) {
      Register& r = registers_[o.slot.offset];
      if (writes && !address) r.definitions.push_back(pc);
      if (reads || address) r.uses.push_back({pc, address});
      r.accumulates |= (reads || address) && is_wgmma({pc});
    }
    for (const DecodedOperand& e : o.elements) collect(pc, e, writes, reads);
  }

  // The register that an instruction alone defines; nullptr when there is none, or several.
  const Register* result(uint32_t pc) const {
    const MicroOp& op = at(pc);
    if (op.guard >= 0 || op.instruction->operands.empty()) return nullptr;
    const DecodedOperand& d = op.operands[0];
    if (d.kind != DecodedOperand::Kind::lanes || d.slot.constant) return nullptr;
    const auto found = registers_.find(d.slot.offset);
    const bool alone = found != registers_.end() && found->second.definitions.size() == 1;
    return alone && !found->second.uses.empty() ? &found->second : nullptr;
  }
  template <class F>
  bool all_uses(uint32_t pc, const F& f) const {
    const Register* r = result(pc);
    return r != nullptr && std::ranges::all_of(r->uses, f);
  }
  bool once(uint32_t pc) const {
    const Register* r = result(pc);
    return r != nullptr && r->uses.size() == 1;
  }
  bool constant(uint32_t pc, size_t operand) const {
    const DecodedOperand& o = at(pc).operands[operand];
    return o.kind == DecodedOperand::Kind::lanes && o.slot.constant;
  }

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
    const isa::Footprint& f = program_.footprint(at(u.pc));
    const bool access = !f.memory.empty() && f.memory.front().content == isa::Content::data && !f.issues();
    return u.address && (access || f.at(isa::Sync::Object::mbarrier));
  }

  // A constant added to an address is a part of it: [R + 128].
  void fold_offset(uint32_t pc) {
    if (is_sum(pc) && (constant(pc, 1) || constant(pc, 2)) &&
        all_uses(pc, [&](const Use& u) { return is_accessed(u); }))
      code_[pc].fold_as(Fold::offset, result(pc)->uses[0].pc);
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
    if (all_uses(pc, [&](const Use& u) { return type(u.pc) == t && takes_sign(u.pc); }))
      code_[pc].fold_as(Fold::sign, result(pc)->uses[0].pc);
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
        at(pc).instruction->mod("half") == "hi" || !once(pc))
      return;
    const bool wide = at(pc).instruction->mod("half") == "wide";
    if (isa::bits(type(pc)) != 32 || (wide && !constant(pc, 2))) return;
    const uint32_t sum = result(pc)->uses[0].pc;
    if (!is_sum(sum) || merged_[sum] || isa::bits(type(sum)) != (wide ? 64 : 32)) return;
    code_[sum].fold_as(Fold::imad, pc);
    merged_[pc] = merged_[sum] = true;
  }

  // LEA: sums that take a shifted operand.
  void fold_shift(uint32_t pc) {
    if (does(pc) != Operation::shift_left || !constant(pc, 2) || (isa::bits(type(pc)) == 64 && !once(pc)))
      return;
    const int width = isa::bits(type(pc));
    const auto takes = [&](const Use& u) {
      return !u.address && is_sum(u.pc) && !merged_[u.pc] && isa::bits(type(u.pc)) == width;
    };
    if (!all_uses(pc, takes)) return;
    code_[pc].fold_as(Fold::lea, result(pc)->uses[0].pc);
    for (const Use& u : result(pc)->uses) merged_[u.pc] = true;
  }

  // IADD3 and LOP3 have three inputs: one that only another of its kind reads is a part of that one.
  void fold_pair(uint32_t pc, bool (Folder::*kind)(uint32_t) const) {
    if (!(this->*kind)(pc) || merged_[pc] || code_[pc].is_folded()) return;
    for (size_t k = 1; k < at(pc).instruction->operands.size(); ++k) {
      const uint32_t before = definition(pc, k);
      if (before >= pc || !(this->*kind)(before) || merged_[before] || code_[before].is_folded() ||
          !once(before) || isa::bits(type(before)) != isa::bits(type(pc)) || inputs(pc, before) > 3)
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
  // Where the operand's register is defined; size() when that is not one place.
  uint32_t definition(uint32_t pc, size_t operand) const {
    const DecodedOperand& o = at(pc).operands[operand];
    if (o.kind != DecodedOperand::Kind::lanes || o.slot.constant) return size();
    const auto found = registers_.find(o.slot.offset);
    if (found == registers_.end() || found->second.definitions.size() != 1) return size();
    return found->second.definitions[0];
  }

  // ISETP.AND: a comparison takes a predicate in.
  void fold_predicate(uint32_t pc) {
    if (!is_logic_of_predicates(pc)) return;
    for (const size_t k : {1, 2}) {
      const uint32_t before = definition(pc, k);
      if (before < pc && does(before) == Operation::compare && once(before))
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
    if (!all_uses(pc, [&](const Use& u) { return is_wgmma(u); })) return;
    keep(pc, 1);
    code_[pc].early = merged_[pc] = true;
  }

  // What is left of moves: S2R of a special register; the start of shared memory, from the CTA's place in its
  // cluster; the halves of descriptors; zeros of accumulators, two at a time.
  void keep_move(uint32_t pc) {
    if (does(pc) != Operation::move || !code_[pc].is_folded()) return;
    using Kind = isa::Operand::Kind;
    const isa::Operand& from = at(pc).instruction->operands[1];
    const auto to_wgmma = [&](const Use& u) { return is_wgmma(u); };
    if (from.is(Kind::special)) return keep(pc, 1);
    if (from.is(Kind::symbol)) return keep(pc, 3);
    if (from.is(Kind::vector) && all_uses(pc, to_wgmma)) return keep(pc, 1);
    if (!constant(pc, 1) || !accumulates(pc)) return;
    if (odd_ = !odd_; odd_) keep(pc, 1);
  }
  bool accumulates(uint32_t pc) const {
    const auto found = registers_.find(at(pc).operands[0].slot.offset);
    return found != registers_.end() && found->second.accumulates;
  }
  bool is_wgmma(const Use& u) const { return program_.footprint(at(u.pc)).issues(isa::AsyncFamily::wgmma); }
  // In the uniform datapath.
  void keep(uint32_t pc, uint32_t slots) {
    code_[pc].fold = Fold::none;
    code_[pc].slots = slots;
    code_[pc].pipe = isa::Unit::uniform;
  }

  // A copy under a predicate: the address of its descriptor goes through uniform registers.
  void guide_copy(uint32_t pc) {
    constexpr uint32_t more = 8;
    const isa::Footprint& f = program_.footprint(at(pc));
    const bool copies = f.issues(isa::AsyncFamily::tensor) || f.issues(isa::AsyncFamily::bulk);
    if (at(pc).guard >= 0 && copies && !is_settled(pc)) code_[pc].slots += more;
  }

  // A branch in front of it has gone elsewhere unless the predicate holds.
  bool is_settled(uint32_t pc) const {
    const auto guard = static_cast<uint32_t>(at(pc).guard);
    const auto found = registers_.find(guard);
    if (found == registers_.end() || found->second.definitions.size() != 1) return false;
    for (const Use& u : found->second.uses)
      if (u.pc < pc && code_[u.pc].branches && target(u.pc) > pc && target(u.pc) < size() &&
          at(u.pc).guard == at(pc).guard && at(u.pc).guard_negated != at(pc).guard_negated)
        return true;
    return false;
  }

  // The stack pointer and the descriptor of GMEM.
  void prologue(uint32_t pc) {
    while (pc + 1 < size() && code_[pc].is_folded()) ++pc;
    code_[pc].slots += 2;
  }

  // Where the arithmetic that `pc` needs may be done: its block, and what stands in front of waits there,
  // which try once before they spin elsewhere.
  uint32_t block_of(uint32_t pc) const {
    while (pc > 0) {
      if (code_[pc - 1].branches && !code_[pc - 1].spins) break;
      if (targets_[pc] && !spins_to(pc)) break;
      --pc;
    }
    return pc;
  }
  bool spins_to(uint32_t begin) const {
    uint32_t pc = begin;
    while (pc < size() && !code_[pc].branches) ++pc;
    return pc < size() && code_[pc].spins && target(pc) == begin;
  }
  // A branch back to a wait for an mbarrier, with nothing else on the way.
  void mark_spin(uint32_t branch) {
    const uint32_t begin = target(branch);
    if (begin >= branch || at(branch).guard < 0) return;
    for (uint32_t pc = begin; pc < branch; ++pc)
      if (!code_[pc].is_folded() && !program_.footprint(at(pc)).at(isa::Sync::Object::mbarrier)) return;
    code_[branch].spins = true;
  }

  // So is where copies go and come from.
  void address_early(uint32_t copy) {
    const uint32_t begin = block_of(copy);
    for (size_t k = 0; k < at(copy).instruction->operands.size(); ++k)
      address_early(at(copy).operands[k], begin, copy);
  }
  void address_early(const DecodedOperand& o, uint32_t begin, uint32_t copy) {
    const bool is_register = o.kind == DecodedOperand::Kind::lanes || o.kind == DecodedOperand::Kind::address;
    if (is_register && !o.slot.constant) mark_early(registers_[o.slot.offset], begin, copy);
    for (const DecodedOperand& e : o.elements) address_early(e, begin, copy);
  }

  // What a branch depends on is computed as early in its block as its operands allow.
  void compare_early(uint32_t branch) {
    if (at(branch).guard < 0) return;
    const uint32_t begin = block_of(branch);
    const auto found = registers_.find(static_cast<uint32_t>(at(branch).guard));
    counted_ = found != registers_.end();
    if (counted_) mark_early(found->second, begin, branch);
  }
  void mark_early(const Register& r, uint32_t begin, uint32_t end) {
    // In ascending order: a register may have very many definitions, a block has few.
    for (auto d = std::ranges::lower_bound(r.definitions, begin); d != r.definitions.end() && *d < end; ++d) {
      const uint32_t pc = *d;
      if (code_[pc].early) continue;
      counted_ &= code_[pc].defers;
      if (!code_[pc].defers) continue;
      code_[pc].early = true;
      for (size_t k = 1; k < at(pc).instruction->operands.size(); ++k) {
        const DecodedOperand& o = at(pc).operands[k];
        if (o.kind == DecodedOperand::Kind::lanes && !o.slot.constant)
          mark_early(registers_[o.slot.offset], begin, pc);
      }
    }
  }
  uint32_t target(uint32_t branch) const {
    const MicroOp& op = at(branch);
    for (size_t k = 0; op.instruction != nullptr && k < op.instruction->operands.size(); ++k)
      if (op.operands[k].kind == DecodedOperand::Kind::target) return op.operands[k].id;
    return size();
  }

  // ptxas unrolls, by four, short counted loops of one block; longer ones if they wait for memory.
  void unroll(uint32_t branch) {
    constexpr uint32_t longest = 22, longest_with_loads = 36;
    const uint32_t begin = target(branch);
    if (begin > branch || !counted_) return;
    uint32_t slots = 0;
    bool loads = false;
    for (uint32_t pc = begin; pc < branch; ++pc) {
      const LoweredInstruction& p = code_[pc];
      if (p.branches || (pc > begin && targets_[pc]) || p.path == Path::waits || p.path == Path::async)
        return;
      slots += p.slots;
      loads |= p.path == Path::global_load || p.path == Path::shared_load;
    }
    if (slots > (loads ? longest_with_loads : longest)) return;
    code_[branch].unrolled = true;
    for (uint32_t pc = begin; pc < branch; ++pc)
      if (code_[pc].early) code_[pc].fold_as(Fold::unrolled, branch);
  }

  const Program& program_;
  std::span<LoweredInstruction> code_;
  std::vector<bool> merged_;  // has its third input
  const std::vector<bool> targets_;
  bool odd_ = false;
  bool counted_ = false;  // the branch looked at depends on no load of its block
  std::unordered_map<uint32_t, Register> registers_;
};

}  // namespace

void fold(const Program& program, std::span<LoweredInstruction> code) { Folder(program, code).run(); }

}  // namespace palladion::sim::sass
