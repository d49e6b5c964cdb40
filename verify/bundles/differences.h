// Why a device left other bytes than the machine: addresses of the heap, the order of threads, or sums that
// ptxas contracted otherwise.
#pragma once

#include <span>

#include "verify/bundles/bundle_job.h"
#include "verify/launch/runner.h"

namespace palladion::verify {

struct Replay {
  const Recorded& recorded;
  const Job& job;
  const isa::ArchSpec& arch;
  const SimOutcome& outcome;  // of the run that left other bytes
  sim::RunOptions run;        // host threads, contraction, the flag that stops it
};

// Runs it under other schedules, few where it is long, and appends to the note of each comparison that is not
// equal how many of the words of 4 bytes that differ vary between the schedules, and how many have the
// device's bits under one of them. Where some do not vary, adds what ptxas contracts (contraction.h).
// `comparisons`: of the outputs whose contents the device left, in their order.
void explain_differences(const Replay& replay, std::span<OutputComparison* const> comparisons);

}  // namespace palladion::verify
