// Cases on both sides: what the device did and what the machine said of it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/clock/replay.h"
#include "bench/clock/statistics.h"

namespace palladion::bench {

struct Judged {
  std::string text;
  std::string family;  // the kernel
  Recorded device;
  Replayed cold, warm;  // warm: empty report when it was not asked for
};

// Relative errors of the cycles; cases without cycles are left out.
std::vector<double> cycle_errors(std::span<const Judged> cases, sim::L2Start l2);
const Measured& measured(const Judged& judged, sim::L2Start l2);
const Replayed& replayed(const Judged& judged, sim::L2Start l2);

struct Family {
  std::string name;
  ErrorSummary cold, warm, both;
};
// One a kernel, in the order of the cases; the last is "all".
std::vector<Family> families(std::span<const Judged> cases);

// Over all cases that have both numbers. Counts that are small beside what the chip does otherwise in that
// time say nothing: they are left out when the device's is below `least`.
struct CounterErrors {
  std::string name;
  double least = 0;
  ErrorSummary errors;
};
std::vector<CounterErrors> counter_errors(std::span<const Judged> cases);

struct SweepVerdict {
  std::string device_best, simulated_best;
  double lost = 0;         // device time of the simulator's choice over the best, less one
  double correlation = 0;  // of the ranks
};
SweepVerdict judge_sweep(std::span<const Judged> cases, sim::L2Start l2);

struct ValidationOptions {
  bool warm = true;            // also with a warm L2
  bool recorded_clock = true;  // the SM clock that the chip had during the case; else that of the parameters
  unsigned threads = 0;
  std::string only;  // cases whose text contains this
};
// Replays the cases of a file that were recorded; `report` is called after each.
std::vector<Judged> judge(const std::string& cases, const std::map<std::string, Recorded>& recorded,
                          const ValidationOptions& options, const std::function<void(const Judged&)>& report);

}  // namespace palladion::bench
