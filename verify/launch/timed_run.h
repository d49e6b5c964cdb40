// Runs for their time alone, under the hardware schedule.
#pragma once

#include "verify/launch/runner.h"

namespace palladion::verify {

// `run`: threads, limits and the clock's settings; the schedule is set here. The job is not changed: a run
// works on a copy.
sim::RunResult timed_run(const Job& job, const isa::ArchSpec& arch, sim::RunOptions run);

// The machine refuses this without values; it may run with full values.
bool refused_for_values(const sim::RunResult& result);

}  // namespace palladion::verify
