#include "sim/clock/sm/issue.h"

namespace palladion::sim::hardware {

Cycle Issue::take(const Warp& w, const InstructionCost& cost, Cycle now, Usage& usage) {
  SubCore& s = sub_cores_[w.sub_core];
  s.slot.take(now, cost.slots);
  usage.book(Resource::issue, cost.slots);
  usage.instructions += cost.slots;
  const bool shuffles = cost.shuffles(), tensor = cost.occupies == Resource::tensor;
  if (!computes(cost.occupies) && cost.occupies != Resource::fp64 && !tensor && !shuffles) return now;
  const Cycles start = s.pipes.take(cost.occupies, time_of(now), cost.interval);
  if (tensor && cost.path == Path::plain && cost.unit == isa::Unit::tensor)
    usage.book(cost.occupies, cost.interval / count());
  else if (!shuffles && !tensor)
    usage.book(cost.occupies, cost.interval);
  return cycle_of(std::ceil(start));
}

// An iteration of a loop ends when its arithmetic has issued.
void Issue::branch(Warp& w, const InstructionCost& cost, uint32_t from, uint32_t to) const {
  constexpr uint32_t fetched_ahead = 32;  // instructions
  const bool back = to < from;
  const bool on = back && runs_on(w, cost);
  w.iterations += back && cost.unrolled;
  if (on) return;
  const Cycles cycles = to > from + fetched_ahead ? p_->branch_forward : p_->branch_taken;
  w.wait_until(Stall::branch_resolving, w.next + whole_cycles(cycles));
  if (back) w.registers.drain();
}

}  // namespace palladion::sim::hardware
