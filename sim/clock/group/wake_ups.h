#pragma once
// Wake-ups: what a warp waits for has come, and the news reaches it some cycles later.
#include <cstdint>
#include <span>

#include "isa/arch/clock.h"
#include "sim/clock/group/events.h"
#include "sim/clock/sm/network.h"
#include "sim/clock/sm/waits.h"
#include "sim/clock/sm/warp.h"

namespace palladion::sim::hardware {

// When would a warp that has waited for others go on?
class WakeUps {
 public:
  explicit WakeUps(const isa::ClockParameters& p) : p_(&p), waits_(p) {}

  // Blocked warps of the cluster whose wait is over at `now` go on. `by_copy`: because an asynchronous
  // operation has landed.
  void wake(std::span<Warp> warps, ClusterState& cluster, Cycle now, bool by_copy, Events& events) const;
  // Cycles from `now`, when the wait is over, until the warp goes on.
  uint64_t delay(const Warp& w, const Wait& wait, Cycle now, bool by_copy) const;

  // A warp that need not block: the last to arrive at a barrier of its CTA or at the cluster's, and one that
  // finds the phase of an mbarrier complete.
  void pass_barrier(Warp& w, uint64_t barrier, Cycle now) const;
  void pass_cluster_barrier(Warp& w) const;
  void pass_mbarrier(Warp& w, uint64_t mbarrier, Cycle now) const;

  // An arrival from another CTA that is at the mbarrier at `time`.
  void arrives(ClusterOfGroup cluster, SharedAddress mbarrier, Cycle time) {
    remote_.add(cluster, mbarrier, time);
  }
  bool expects_arrivals() const { return !remote_.empty(); }
  void forget(ClusterOfGroup cluster) { remote_.remove(cluster); }

 private:
  uint64_t remote_delay(const Warp& w, uint64_t mbarrier, Cycle now) const;

  const isa::ClockParameters* p_;
  Waits waits_;
  RemoteArrivals remote_;
};

}  // namespace palladion::sim::hardware
