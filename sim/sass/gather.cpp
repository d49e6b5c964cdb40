#include "sim/sass/gather.h"

#include <algorithm>

#include "isa/core/op.h"
#include "sim/sass/uniform.h"

namespace palladion::sim::hardware {
namespace {

uint32_t latency_of(const isa::ClockParameters& p, std::string_view key) {
  return whole(p.cost(key).latency);
}

// Reductions of 32-bit integers, and additions whose old value is wanted.
bool adds_up(const isa::Atomic& a) {
  using A = isa::AtomicOp;
  const bool integer = isa::bits(a.type) == 32 && isa::kind(a.type) != isa::TypeKind::floating;
  const bool reduces =
      a.op == A::min || a.op == A::max || a.op == A::and_ || a.op == A::or_ || a.op == A::xor_;
  return integer && a.elements == 1 && (a.op == A::add || (a.dst < 0 && reduces));
}

class Gatherer {
 public:
  Gatherer(const Program& program, const isa::ClockParameters& parameters)
      : uniform_(program),
        alu_(latency_of(parameters, "alu")),
        step_(latency_of(parameters, "shfl") + alu_),
        redux_(latency_of(parameters, "redux")),
        count_(latency_of(parameters, "vote") + latency_of(parameters, "popc")) {}

  void look_at(uint32_t pc, const MicroOp& op, Price& p) {
    const auto* a = std::get_if<isa::Atomic>(op.effect);
    if (a != nullptr && (p.takes_turns || !is_shared(p.space)) && adds_up(*a) &&
        uniform_.holds(pc, a->address))
      gather(*a, op.operands[a->b], uniform_.holds(pc, a->b), p);
    for_results(op, [&](uint32_t r) { summed_.erase(r); });
    if (p.branches) summed_.clear();
  }

 private:
  // REDUX; of equal values POPC and a product; five steps of SHFL.UP where each lane wants the sum of those
  // before it. Then the lane that does it is found, and its answer given to the others.
  void gather(const isa::Atomic& a, const DecodedOperand& value, bool alike, Price& p) {
    const bool returns = a.dst >= 0;
    p.gathers = true;
    p.gather = 3 * alu_ + (alike ? count_ : returns ? 5 * step_ : redux_);
    p.scatter = returns ? step_ : 0;
    // A sum is computed once in a block.
    if (!returns && !value.slot.constant && !summed_.insert(value.slot.offset).second) p.gather = 0;
  }

  const Uniformity uniform_;
  const uint32_t alu_, step_, redux_, count_;
  std::unordered_set<uint32_t> summed_;  // registers whose lanes' sum this block has
};

}  // namespace

void gather(const Program& program, const isa::ClockParameters& parameters, std::span<Price> prices) {
  const bool any = std::ranges::any_of(program.code, [](const MicroOp& op) {
    return op.instruction != nullptr && std::holds_alternative<isa::Atomic>(*op.effect);
  });
  if (!any) return;
  Gatherer gatherer(program, parameters);
  for (uint32_t pc = 0; pc < prices.size(); ++pc)
    if (program.code[pc].instruction != nullptr) gatherer.look_at(pc, program.code[pc], prices[pc]);
}

}  // namespace palladion::sim::hardware
