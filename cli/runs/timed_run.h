// Runs for their time alone, many at once, for `sweep` and `run --why`.
#pragma once

#include "cli/options/clock_settings.h"
#include "cli/subjects/subject.h"
#include "verify/launch/runner.h"

namespace palladion::cli {

// The subject's job is not changed: a run works on a copy.
sim::RunResult timed_run(const Subject& subject, const ClockSettings& settings, unsigned threads,
                         uint64_t max_instructions);

// The machine refuses this with --values none; it may run with full values.
bool refused_for_values(const sim::RunResult& result);

// Why there is no time: the machine's first error, else its first finding that ended the run. Empty: there is
// one.
struct NoTime {
  isa::CodeNumber code;
  std::string reason;
};
NoTime why_no_time(const sim::RunResult& result);

}  // namespace palladion::cli
