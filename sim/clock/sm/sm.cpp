#include "sim/clock/sm/sm.h"

#include <algorithm>
#include <cmath>

namespace palladion::sim::hardware {
namespace {

// Instructions of a sequence that ptxas leaves to the uniform datapath; longer ones use the vector pipes.
constexpr uint32_t longest_uniform = 4;

}  // namespace

Opening Sm::opens(const Warp& w, const InstructionCost& cost, Cycle at) const {
  Opening o = issue.opens(w, cost, at);
  if (computes(cost.occupies) && cost.slots > longest_uniform)
    o.free = std::max(o.free, cycle_of(tensor.sequences_open(w.warpgroup, time_of(at))));
  if (cost.unit == isa::Unit::lsu) memory.hold_up(cost, o);
  if (cost.holds) o.wait_for(time_of(w.arrive_free), Stall::mio_throttle);
  if (cost.path == Path::async && cost.unit == isa::Unit::tensor) o.wait_for(tensor.opens(), Stall::gmma);
  if (cost.path == Path::async && cost.unit == isa::Unit::tma)
    o.wait_for(std::floor(tma.opens()), Stall::tma_throttle);
  return o;
}

Cycle Sm::take(const Warp& w, const InstructionCost& cost, Cycle now) {
  if (cost.shuffles()) memory.shuffle(now, cost.interval / issue.count());
  return issue.take(w, cost, now, usage);
}

}  // namespace palladion::sim::hardware
