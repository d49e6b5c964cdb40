#pragma once
// Fences of an SM: what those of a wide scope wait for.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "isa/arch/clock.h"
#include "sim/clock/memory/cycles.h"

namespace palladion::sim::hardware {

// When would a fence be done?
class Fences {
 public:
  // `interval`: cycles between two fences of the SM.
  Fences(const isa::ClockParameters& p, Cycles interval) : p_(&p), interval_(interval) {}

  // What the warp and its SM have under way when the fence begins.
  struct UnderWay {
    Cycle stores;                 // of the warp: when they are on their way
    Cycle async_stores;           // of the warp: when they are there
    Cycles network = 0;           // when the SM has done what it does with others of the cluster
    bool shared_network = false;  // the network's ways are shared with neighbours
  };
  // Those of a wide scope wait for the warp's stores to be on their way, for what the SM has to do with
  // others of the cluster, and, when the warp has asynchronous stores on their way, for those of the whole SM
  // to be there; the SM takes one in an interval, a few more at once. If the SM has read or written GMEM
  // since the last one, L2 is asked first whether all has arrived.
  Cycle done(Cycle now, uint32_t latency, const UnderWay& u);

  void accesses_gmem() { accessed_ = true; }
  // L2 acknowledges a store; an asynchronous store is there; an arrival at another SM's mbarrier is known to
  // be.
  void stored(Cycle time) { stored_ = std::max(stored_, time); }
  void async_stored(Cycle time) { async_stored_ = std::max(async_stored_, time); }
  void arrived(Cycle time) { arrived_ = time; }
  Cycle last_arrival() const { return arrived_; }

 private:
  const isa::ClockParameters* p_;
  Cycles interval_;
  Cycles free_ = 0;
  Cycle stored_, async_stored_ = Cycle(0), arrived_ = Cycle(0);
  bool accessed_ = false;  // GMEM, since the last fence
};

inline Cycle Fences::done(Cycle now, uint32_t latency, const UnderWay& u) {
  if (latency < p_->l2_latency / 2) return now + latency;
  if (std::exchange(accessed_, false)) stored(now + whole_cycles(p_->l2_latency));
  const Cycles begin = std::max(time_of(std::max({now, u.stores, stored_})), u.network);
  free_ = std::max(free_, begin - (p_->fence_queue - 1) * interval_) + interval_;
  const Cycles done = std::max(begin, free_ - interval_) + latency;
  if (u.async_stores <= now) return cycle_of(done);
  const Cycles known = u.shared_network ? p_->dsm_contended_fence : 0;
  return std::max(cycle_of(done), async_stored_ + whole_cycles(known));
}

}  // namespace palladion::sim::hardware
