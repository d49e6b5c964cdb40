#pragma once
// The TMA unit of an SM.
#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include "isa/arch/clock.h"
#include "sim/clock/memory/cycles.h"
#include "sim/clock/sm/queue.h"

namespace palladion::sim::hardware {

// When would a copy be served? It waits in a queue until the unit takes it, then until those before it in its
// direction have sent their requests.
class TmaUnit {
 public:
  explicit TmaUnit(const isa::ClockParameters& p)
      : queue_places_(static_cast<size_t>(p.tma_queue)),
        next_places_(static_cast<size_t>(p.tma_next)),
        issue_interval_(p.tma_issue_interval),
        descriptor_miss_(p.tma_descriptor_miss) {}

  enum class Direction : uint8_t { load, store };  // from GMEM, to GMEM
  struct Sending {
    Cycles from = 0, to = 0;
  };
  // When a copy that is issued at `issued` sends its requests, which takes `cycles`.
  Sending take(Direction direction, Cycles issued, Cycles cycles) {
    Cycles& free = direction == Direction::load ? loads_free_ : stores_free_;
    const Cycles taken = std::max(issued, free_);
    queue_.push(taken);
    const Cycles passed = std::max(taken, next_.opens(next_places_));
    free_ = passed + issue_interval_;
    const Cycles start = std::max(passed, free);
    next_.push(start);
    free = start + cycles;
    return {start, free};
  }
  // When a thread may issue another copy.
  Cycles opens() const { return queue_.opens(queue_places_); }
  // Cycles that the first use of a tensor map takes longer.
  Cycles fetch_descriptor(uint64_t tensor_map) {
    return descriptors_.insert(tensor_map).second ? descriptor_miss_ : 0;
  }
  // L2 has taken so much of the stores only.
  void hold_stores(Cycles until) { stores_free_ = std::max(stores_free_, until); }

  // Loads are counted from 1, so that it is known whether another one came behind.
  uint64_t count_load() { return ++loads_; }
  bool is_overtaken(uint64_t load) const { return load != 0 && load < loads_; }

 private:
  size_t queue_places_, next_places_;
  Cycles issue_interval_, descriptor_miss_;
  Cycles free_ = 0;  // takes another copy from the queue
  Cycles loads_free_ = 0, stores_free_ = 0;
  uint64_t loads_ = 0;
  Queue queue_;  // copies that wait to be taken
  Queue next_;   // that wait to send requests
  std::unordered_set<uint64_t> descriptors_;
};

}  // namespace palladion::sim::hardware
