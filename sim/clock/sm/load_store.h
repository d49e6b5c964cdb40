#pragma once
// The load-store unit of an SM: address generation, one memory instruction after the other, and the way of
// its stores to L2.
#include <algorithm>
#include <span>

#include "isa/arch/clock.h"
#include "sim/clock/memory/lines.h"

namespace palladion::sim::hardware {

// When would the load-store unit begin with an instruction?
class LoadStoreUnit {
 public:
  explicit LoadStoreUnit(const isa::ClockParameters& p) : queue_(p.smem_lsu_queue) {}

  // When a warp that is ready at `ready` may issue: 0 when the queue has room for it then.
  Cycles opens(Cycles ready) const { return free_ > ready + queue_ ? free_ - queue_ : 0; }
  // It works for `cycles` from the time that is returned.
  Cycles take(Cycles now, Cycles cycles) {
    const Cycles start = std::max(now, free_);
    free_ = start + cycles;
    return start;
  }
  // Behind the stores that the cluster's network has not taken.
  Cycles take_behind_stores(Cycles now, Cycles cycles) { return take(std::max(now, stores_), cycles); }
  void hold(Cycles until) { free_ = std::max(free_, until); }
  void extend(Cycles cycles) { free_ += cycles; }

  void store_waits(Cycles until) { stores_ = std::max(stores_, until); }
  Cycles stores_taken() const { return stores_; }

 private:
  Cycles queue_;
  Cycles free_ = 0;
  Cycles stores_ = 0;  // the cluster's network has taken all stores
};

// When would stores be on their way to L2?
class StorePath {
 public:
  explicit StorePath(const isa::ClockParameters& p)
      : bytes_per_cycle_(p.l2_sm_write_bytes_per_cycle), queue_(p.l2_sm_write_queue) {}

  // Stores or atomics of an instruction that begins at `start`; returns when the last of them has left the
  // SM.
  Cycles take(std::span<const LineAccess> lines, bool atomic, Cycles start) {
    Cycles cycles = 0;
    for (const LineAccess& l : lines)
      cycles += (atomic ? atomic_pieces(l) : write_pieces(l)) * sector_bytes / bytes_per_cycle_;
    return free_ = std::max(free_, start) + cycles;
  }
  // Until when stores that wait for their way hold up the load-store unit.
  Cycles holds_until() const { return free_ - queue_; }

 private:
  double bytes_per_cycle_, queue_;
  Cycles free_ = 0;
};

}  // namespace palladion::sim::hardware
