#pragma once
// Instruction fetch of an SM.
#include <cstdint>
#include <utility>
#include <vector>

#include "isa/arch/clock.h"

namespace palladion::sim::hardware {

// When would an instruction be there to issue? Those that the SM has not executed yet come from L2 through
// its instruction caches.
class InstructionFetch {
 public:
  InstructionFetch(const isa::ClockParameters& p, size_t instructions)
      : first_(p.issue_first_instruction), fetched_(instructions) {}

  // Cycles until the `slots` SASS instructions of the one at `pc` are there.
  double fetch(uint32_t pc, uint32_t slots) {
    return std::exchange(fetched_[pc], uint8_t{1}) != 0 ? 0 : first_ * slots;
  }

 private:
  double first_;
  std::vector<uint8_t> fetched_;  // by pc
};

}  // namespace palladion::sim::hardware
