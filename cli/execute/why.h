// What would help a run that was timed: runs with one change each.
#pragma once

#include "cli/runs/run_request.h"
#include "cli/subjects/subject.h"
#include "report/run/run.h"

namespace palladion::cli {

// `report.time` is there. Says on stderr how long it will take.
WhyReport why_of(const Subject& subject, const Report& report, const RunRequest& request);

}  // namespace palladion::cli
