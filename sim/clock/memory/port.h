#pragma once
// The way into an SM. Answers take it as they come, which is not as they were asked for: time goes in steps
// of a few cycles, each of which has room for so much.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/clock/memory/cycles.h"

namespace palladion::sim::hardware {

class Port {
 public:
  // Takes some cycles of it, not before `time`; from when. They are fewer than a step has.
  Cycles take(Cycles time, Cycles cycles) {
    auto number = static_cast<uint64_t>(time / step);
    if (number >= full_from_ && number < full_to_) number = full_to_;
    while (at(number).used >= step) ++number;
    Step& s = at(number);
    const Cycles start = std::max(time, static_cast<double>(number) * step + s.used);
    s.used += cycles;
    if (s.used >= step) {
      at(number + 1).used += s.used - step;
      if (full_to_ != number) full_from_ = number;
      full_to_ = number + 1;
    }
    return start;
  }

 private:
  static constexpr Cycles step = 8;  // cycles
  struct Step {
    uint64_t number = 0;
    Cycles used = 0;
  };
  Step& at(uint64_t number) {
    Step& s = steps_[number % steps_.size()];
    if (s.number != number) s = {number, 0};
    return s;
  }

  std::array<Step, 512> steps_{};
  uint64_t full_from_ = 0, full_to_ = 0;  // no room in these
};

}  // namespace palladion::sim::hardware
