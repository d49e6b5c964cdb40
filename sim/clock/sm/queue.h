#pragma once
// A queue of limited length in front of a unit.
#include <algorithm>
#include <array>
#include <cstddef>

#include "sim/clock/memory/cycles.h"

namespace palladion::sim::hardware {

class Queue {
 public:
  // Of the next entry: when it leaves the queue.
  void push(Cycles leaves) { leaves_[next_++ % leaves_.size()] = leaves; }
  // When one of `places` (at most 64) is free: the entry that came so many before the next has left.
  Cycles opens(size_t places) const {
    return leaves_[(next_ - std::clamp<size_t>(places, 1, leaves_.size())) % leaves_.size()];
  }

 private:
  std::array<Cycles, 64> leaves_{};
  size_t next_ = 0;
};

}  // namespace palladion::sim::hardware
