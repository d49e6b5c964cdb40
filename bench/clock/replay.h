// Runs cases in the machine under the hardware schedule.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/clock/recorded.h"
#include "kernels/frame/case.h"
#include "sim/launch/clock.h"

namespace palladion::bench {

struct ReplayOptions {
  sim::L2Start l2 = sim::L2Start::cold;
  double sm_clock_mhz = 0;  // 0: that of the architecture's parameters
  unsigned threads = 0;
};

struct Replayed {
  std::string refused;  // why there are no cycles; empty otherwise
  sim::ClockReport clock;
  bool values = false;  // the tensors' contents were needed
  double seconds = 0;   // of the host
};

// Without the tensors' contents where the kernel allows it.
Replayed replay(const kernels::Case& c, const ReplayOptions& options);

// A counter of both sides under Nsight Compute's name; the recorded one is missing where ncu did not know it.
struct CounterPair {
  std::string name;
  std::optional<double> device;
  double simulated = 0;
};
std::vector<CounterPair> counters(const Recorded& device, const sim::ClockCounters& simulated);

}  // namespace palladion::bench
