#include "sim/sass/constants.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "isa/core/op.h"
#include "sim/sass/uniform.h"

namespace palladion::sim::sass {
namespace {

using isa::Operation;

class Constants {
 public:
  Constants(const Program& program, const isa::ClockParameters& parameters,
            std::span<LoweredInstruction> code)
      : program_(program),
        p_(parameters),
        code_(code),
        targets_(branch_targets(program)),
        joins_(forward_targets(program)) {}

  // Block by block: what other blocks leave in a register is not looked at.
  void run() {
    for (uint32_t pc = 0; pc < code_.size(); ++pc) {
      if (targets_[pc]) known_ = Known();
      if (joins_[pc]) reciprocals_.clear();
      const MicroOp& op = program_.code[pc];
      if (op.instruction != nullptr) look_at(op, code_[pc]);
      if (code_[pc].branches) known_ = Known();
    }
  }

 private:
  void look_at(const MicroOp& op, LoweredInstruction& l) {
    const bool foldable = op.guard < 0 && l.defers && std::holds_alternative<isa::Pure>(*op.effect) &&
                          op.operands[0].kind == DecodedOperand::Kind::lanes;
    const bool is_known = foldable && (all_known(op) || is_nothing(op));
    if (is_known)
      l.fold_as(Fold::known);
    else if (foldable && is_copy(op))
      l.fold_as(Fold::copied);
    else if (foldable)
      divide(op, l);
    for_results(op, [&](uint32_t r) { known_.erase(r); });
    if (is_known) known_[op.operands[0].slot.offset] = is_move(op) ? value(op.operands[1]) : std::nullopt;
  }

  static bool is_move(const MicroOp& op) { return isa::operation(*op.instruction) == Operation::move; }
  static bool is_immediate(const DecodedOperand& o) {
    return o.kind == DecodedOperand::Kind::lanes && o.slot.constant;
  }
  bool is_known(const DecodedOperand& o) const {
    return is_immediate(o) || (o.kind == DecodedOperand::Kind::lanes && known_.contains(o.slot.offset));
  }
  // Of moves alone the value is kept; of the others, that ptxas knows it.
  std::optional<int64_t> value(const DecodedOperand& o) const {
    if (is_immediate(o)) return o.offset;
    const auto found = o.kind == DecodedOperand::Kind::lanes ? known_.find(o.slot.offset) : known_.end();
    return found == known_.end() ? std::nullopt : found->second;
  }
  bool is(const MicroOp& op, size_t operand, int64_t wanted) const {
    return value(op.operands[operand]) == wanted;
  }

  bool all_known(const MicroOp& op) const {
    for (size_t k = 1; k < op.instruction->operands.size(); ++k)
      if (!is_known(op.operands[k])) return false;
    return true;
  }
  static bool is_integer(const isa::Instruction& i) {
    if (i.form->slot("type") < 0) return false;
    const isa::TypeKind k = isa::kind(i.type());
    return k == isa::TypeKind::signed_int || k == isa::TypeKind::unsigned_int || k == isa::TypeKind::untyped;
  }
  // x * 0 and x & 0.
  bool is_nothing(const MicroOp& op) const {
    const Operation o = isa::operation(*op.instruction);
    return is_integer(*op.instruction) && (o == Operation::multiply || o == Operation::and_) &&
           (is(op, 1, 0) || is(op, 2, 0));
  }
  // x + 0, x << 0, x * 1, 0 * x + y.
  bool is_copy(const MicroOp& op) const {
    if (!is_integer(*op.instruction)) return false;
    switch (isa::operation(*op.instruction)) {
      case Operation::add:
      case Operation::or_:
      case Operation::xor_:
        return is(op, 1, 0) || is(op, 2, 0);
      case Operation::subtract:
      case Operation::shift_left:
      case Operation::shift_right:
        return is(op, 2, 0);
      case Operation::multiply:
        return is(op, 1, 1) || is(op, 2, 1);
      case Operation::multiply_add:
        return is(op, 1, 0) || is(op, 2, 0);
      default:
        return false;
    }
  }

  // ptxas takes a division by a known number as one by any other, powers of two too, but keeps its reciprocal
  // for those by the same number that come after it.
  void divide(const MicroOp& op, LoweredInstruction& l) {
    const Operation o = isa::operation(*op.instruction);
    if ((o != Operation::divide && o != Operation::remainder) || !is_integer(*op.instruction) ||
        isa::bits(op.instruction->type()) != 32)
      return;
    const std::optional<int64_t> by = value(op.operands[2]);
    if (!by || reciprocals_.insert(*by).second) return;
    l.row = static_cast<uint16_t>(
        isa::op_key(isa::is_signed(op.instruction->type()) ? "sdiv32_again" : "udiv32_again"));
    l.slots = whole(p_.ops[l.row].slots);
  }

  const Program& program_;
  const isa::ClockParameters& p_;
  std::span<LoweredInstruction> code_;
  const std::vector<bool> targets_, joins_;
  // clear() of a map takes as long as the largest block that it was used for; a new one does not.
  using Known = std::unordered_map<uint32_t, std::optional<int64_t>>;
  Known known_;                    // registers of this block
  std::set<int64_t> reciprocals_;  // that are there, whatever way led here
};

}  // namespace

void fold_constants(const Program& program, const isa::ClockParameters& parameters,
                    std::span<LoweredInstruction> code) {
  Constants(program, parameters, code).run();
}

}  // namespace palladion::sim::sass
