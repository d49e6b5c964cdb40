// Runs for their time alone, under the hardware schedule.
#pragma once

#include <functional>
#include <vector>

#include "sim/clock/report/relax.h"
#include "verify/launch/runner.h"

namespace palladion::verify {

// `run`: threads, limits and the clock's settings; the schedule is set here. The job is not changed: a run
// works on a copy.
sim::RunResult timed_run(const Job& job, const isa::ArchSpec& arch, sim::RunOptions run);

// The machine refuses this without values; it may run with full values.
bool refused_for_values(const sim::RunResult& result);

// What would help: the launch again, with parts of the chip relaxed.
struct WhyReport {
  uint64_t cycles = 0;                     // without any of them
  sim::Values values = sim::Values::none;  // with which the launch ran again
  std::vector<sim::Gain> gains;            // what saves most first
  bool interrupted = false;                // by Ctrl-C: gains are missing
};
// `clock`: of the run that is explained, which `run` describes; its parameters must be there. `progress` is
// called with the runs that are done and their number, which is known before the first.
WhyReport ask_why(const Job& job, const isa::ArchSpec& arch, const sim::RunOptions& run,
                  const sim::ClockReport& clock,
                  const std::function<void(uint64_t done, uint64_t all)>& progress = {});

}  // namespace palladion::verify
