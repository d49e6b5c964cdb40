#pragma once
// The next things that can happen to a group of SMs, in the order of their time.
#include <cstdint>
#include <queue>

#include "sim/clock/memory/cycles.h"

namespace palladion::sim::hardware {

struct Event {
  enum class Kind : uint8_t { warp, slot, read, land };
  Cycle time;
  uint64_t order = 0;
  Kind kind = Kind::warp;
  uint32_t index = 0;  // warp; slot: SM; read, land: cluster
  uint64_t id = 0;     // slot: sub-core; read, land: the asynchronous operation
  bool operator<(const Event& other) const {
    return time != other.time ? time > other.time : order > other.order;
  }
};

class Events {
 public:
  void add(Cycle time, Event::Kind kind, uint32_t index, uint64_t id = 0) {
    heap_.push({time, order_++, kind, index, id});
  }
  // Of warps that wait for the same unit the one goes first that has not issued for the longest time.
  void add_waiting(Cycle time, Cycle last_issue, uint32_t warp) {
    heap_.push({time, last_issue, Event::Kind::warp, warp, 0});
  }
  bool before(Cycle time) const { return !heap_.empty() && heap_.top().time < time; }
  bool empty() const { return heap_.empty(); }
  const Event& next() const { return heap_.top(); }
  void pop() { heap_.pop(); }

 private:
  std::priority_queue<Event> heap_;
  uint64_t order_ = uint64_t{1} << 48;  // of events of one cycle, after those of warps that wait for a unit
};

}  // namespace palladion::sim::hardware
