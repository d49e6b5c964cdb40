#pragma once
// The data port of shared memory.
#include <algorithm>

#include "isa/arch/clock.h"
#include "sim/clock/memory/lines.h"
#include "sim/clock/sm/tensor_core.h"

namespace palladion::sim::hardware {

// When would an access of shared memory be served?
class SmemPort {
 public:
  explicit SmemPort(const isa::ClockParameters& p) : bytes_per_cycle_(p.smem_bytes_per_cycle) {}

  // It takes `passes` of a line from the time that is returned; longer while the tensor core reads operands.
  Cycles take(Cycles ready, Cycles passes, const TensorCore& tensor) {
    const Cycles start = std::max(ready, free_);
    free_ = start + passes * line_bytes / bytes_per_cycle_ / tensor.port_left(start);
    return start;
  }
  Cycles opens() const { return free_; }

 private:
  double bytes_per_cycle_;
  Cycles free_ = 0;
};

}  // namespace palladion::sim::hardware
