// Why a device left other bytes than the machine: the order of threads, or sums that ptxas contracted
// otherwise.
#pragma once

#include "cli/runs/run_request.h"
#include "cli/subjects/subject.h"
#include "report/run/run.h"

namespace palladion::cli {

// Replays a bundle whose buffers differ (`report.reference`) under other schedules, few where it is long, and
// appends to the note of each buffer how many of the words of 4 bytes that differ vary between the schedules,
// and how many have the device's bits under one of them. Where some do not vary, adds what ptxas contracts
// (contraction_note.h). Ctrl-C ends it.
void explain_differences(const Subject& subject, Report& report, const MachineRequest& request);

}  // namespace palladion::cli
