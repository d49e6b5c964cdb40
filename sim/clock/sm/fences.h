#pragma once
// Fences of an SM: what those of a wide scope wait for.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "isa/arch/clock.h"

namespace palladion::sim::hardware {

// When would a fence be done?
class Fences {
 public:
  // `interval`: cycles between two fences of the SM.
  Fences(const isa::ClockParameters& p, double interval) : p_(&p), interval_(interval) {}

  // What the warp and its SM have under way when the fence begins.
  struct UnderWay {
    uint64_t stores = 0;        // of the warp: when they are on their way
    uint64_t async_stores = 0;  // of the warp: when they are there
    double network = 0;         // when the SM has done what it does with others of the cluster
    bool crowded = false;       // the network's ways are shared with neighbours
  };
  // Those of a wide scope wait for the warp's stores to be on their way, for what the SM has to do with
  // others of the cluster, and, when the warp has asynchronous stores on their way, for those of the whole SM
  // to be there; the SM takes one in an interval, a few more at once. If the SM has read or written GMEM
  // since the last one, L2 is asked first whether all has arrived.
  uint64_t done(uint64_t now, uint32_t latency, const UnderWay& u);

  void accesses_gmem() { accessed_ = true; }
  // L2 acknowledges a store; an asynchronous store is there; an arrival at another SM's mbarrier is known to
  // be.
  void stored(uint64_t time) { stored_ = std::max(stored_, time); }
  void async_stored(uint64_t time) { async_stored_ = std::max(async_stored_, time); }
  void arrived(uint64_t time) { arrived_ = time; }
  uint64_t last_arrival() const { return arrived_; }

 private:
  const isa::ClockParameters* p_;
  double interval_;
  double free_ = 0;
  uint64_t stored_ = 0, async_stored_ = 0, arrived_ = 0;
  bool accessed_ = false;  // GMEM, since the last fence
};

inline uint64_t Fences::done(uint64_t now, uint32_t latency, const UnderWay& u) {
  if (latency < p_->l2_latency / 2) return now + latency;
  if (std::exchange(accessed_, false)) stored(now + static_cast<uint64_t>(p_->l2_latency));
  const double begin = std::max(static_cast<double>(std::max({now, u.stores, stored_})), u.network);
  free_ = std::max(free_, begin - (p_->fence_queue - 1) * interval_) + interval_;
  const double done = std::max(begin, free_ - interval_) + latency;
  if (u.async_stores <= now) return static_cast<uint64_t>(done);
  const double known = u.crowded ? p_->dsm_crowded_fence : 0;
  return std::max(static_cast<uint64_t>(done), async_stored_ + static_cast<uint64_t>(known));
}

}  // namespace palladion::sim::hardware
