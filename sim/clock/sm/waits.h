#pragma once
// Barriers and waits: what a warp that waits is said to wait for, and how long after the event it goes on.
#include <cstdint>

#include "isa/arch/clock.h"
#include "sim/clock/memory/cycles.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim::hardware {

inline bool runnable(const Wait& wait) {
  return wait.kind == Wait::Kind::none || wait.kind == Wait::Kind::poll;
}
Stall stall_of(Wait::Kind kind);

// When would a warp go on?
class Waits {
 public:
  explicit Waits(const isa::ClockParameters& p) : p_(&p) {}

  // Cycles from the event that ends the wait; `by_copy`: the landing of an asynchronous operation.
  uint64_t wake(Wait::Kind kind, bool by_copy) const;
  // From the last arrival at a barrier of so many threads: longer the more warps take part.
  uint64_t barrier(uint32_t threads) const;
  // The same of the cluster's: warps go on one after the other.
  uint64_t cluster_barrier(size_t ctas, uint32_t warp) const;

 private:
  const isa::ClockParameters* p_;
};

}  // namespace palladion::sim::hardware
