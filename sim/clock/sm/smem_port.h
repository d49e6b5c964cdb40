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
  double take(double ready, double passes, const TensorCore& tensor) {
    const double start = std::max(ready, free_);
    free_ = start + passes * line_bytes / bytes_per_cycle_ / tensor.port_left(start);
    return start;
  }
  double opens() const { return free_; }

 private:
  double bytes_per_cycle_;
  double free_ = 0;
};

}  // namespace palladion::sim::hardware
