// The clock's report of a run, and the runs of --why.
#pragma once

#include "cli/options/clock_settings.h"
#include "cli/subjects/subject.h"
#include "report/run/time.h"

namespace palladion::cli {

TimeReport time_report(const Subject& subject, const sim::RunResult& result, const ClockSettings& settings);
// Runs it again and again, `threads` at once.
WhyReport ask_why(const Subject& subject, const sim::ClockReport& clock, const ClockSettings& settings,
                  unsigned threads);

}  // namespace palladion::cli
