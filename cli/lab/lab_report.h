// `lab check --report FILE.html`: the page of one run of the submission, the one that the verdict is about.
#pragma once

#include "cli/lab/lab_commands.h"
#include "labs/engine/verdict.h"

namespace palladion::cli {

// Runs the kernel once more and makes the page: the launch and schedule of the finding that is printed; else
// of the output that differs most; else the measure out of its range, or the first, on the clock; else the
// first case on the clock. The error: no kernel was recorded, or the run was refused.
Outcome<std::string> lab_page(const labs::LabVerdict& verdict, const LabRequest& request);

}  // namespace palladion::cli
