#include "sim/sass/constants.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "isa/core/op.h"
#include "sim/sass/uniform.h"

namespace palladion::sim::hardware {
namespace {

using Kind = DecodedOperand::Kind;

class Constants {
 public:
  Constants(const Program& program, const isa::ClockParameters& parameters, std::span<Price> prices)
      : program_(program),
        p_(parameters),
        prices_(prices),
        targets_(branch_targets(program)),
        joins_(forward_targets(program)) {}

  // Block by block: what other blocks leave in a register is not looked at.
  void run() {
    for (uint32_t pc = 0; pc < prices_.size(); ++pc) {
      if (targets_[pc]) known_.clear();
      if (joins_[pc]) reciprocals_.clear();
      const MicroOp& op = program_.code[pc];
      if (op.instruction != nullptr) look_at(op, prices_[pc]);
      if (prices_[pc].branches) known_.clear();
    }
  }

 private:
  void look_at(const MicroOp& op, Price& p) {
    const bool foldable = op.guard < 0 && p.defers && std::holds_alternative<isa::Pure>(*op.effect) &&
                          op.operands[0].kind == Kind::lanes;
    const bool is_known = foldable && (all_known(op) || is_nothing(op));
    if (is_known || (foldable && is_copy(op)))
      p.vanish();
    else if (foldable)
      divide(op, p);
    for_results(op, [&](uint32_t r) { known_.erase(r); });
    if (is_known) known_[op.operands[0].slot.offset] = is_move(op) ? value(op.operands[1]) : std::nullopt;
  }

  static bool is_move(const MicroOp& op) { return op.instruction->op->name == "mov"; }
  static bool is_immediate(const DecodedOperand& o) { return o.kind == Kind::lanes && o.slot.constant; }
  bool is_known(const DecodedOperand& o) const {
    return is_immediate(o) || (o.kind == Kind::lanes && known_.contains(o.slot.offset));
  }
  // Of moves alone the value is kept; of the others, that ptxas knows it.
  std::optional<int64_t> value(const DecodedOperand& o) const {
    if (is_immediate(o)) return o.offset;
    const auto found = o.kind == Kind::lanes ? known_.find(o.slot.offset) : known_.end();
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
    const std::string_view n = op.instruction->op->name;
    return is_integer(*op.instruction) && (n == "mul" || n == "and") && (is(op, 1, 0) || is(op, 2, 0));
  }
  // x + 0, x << 0, x * 1, 0 * x + y.
  bool is_copy(const MicroOp& op) const {
    const std::string_view n = op.instruction->op->name;
    if (!is_integer(*op.instruction)) return false;
    if (n == "add" || n == "or" || n == "xor") return is(op, 1, 0) || is(op, 2, 0);
    if (n == "sub" || n == "shl" || n == "shr") return is(op, 2, 0);
    if (n == "mul") return is(op, 1, 1) || is(op, 2, 1);
    return n == "mad" && (is(op, 1, 0) || is(op, 2, 0));
  }

  // ptxas takes a division by a known number as one by any other, powers of two too, but keeps its reciprocal
  // for those by the same number that come after it.
  void divide(const MicroOp& op, Price& p) {
    const std::string_view n = op.instruction->op->name;
    if ((n != "div" && n != "rem") || !is_integer(*op.instruction) || isa::bits(op.instruction->type()) != 32)
      return;
    const std::optional<int64_t> by = value(op.operands[2]);
    if (!by || reciprocals_.insert(*by).second) return;
    const isa::OpCost& c = p_.cost(isa::is_signed(op.instruction->type()) ? "sdiv32_again" : "udiv32_again");
    p.slots = whole(c.slots);
    p.interval = c.interval;
    p.held = std::max(c.held, c.slots);
    p.latency = whole(c.latency);
  }

  const Program& program_;
  const isa::ClockParameters& p_;
  std::span<Price> prices_;
  const std::vector<bool> targets_, joins_;
  std::unordered_map<uint32_t, std::optional<int64_t>> known_;  // registers of this block
  std::set<int64_t> reciprocals_;                               // that are there, whatever way led here
};

}  // namespace

void fold_constants(const Program& program, const isa::ClockParameters& parameters, std::span<Price> prices) {
  Constants(program, parameters, prices).run();
}

}  // namespace palladion::sim::hardware
