#pragma once
// Choices of the hardware that no schedule makes: waits that give up, other elected lanes, how many clusters
// are resident and in which order they start.
#include "verify/schedules/schedules.h"

namespace palladion::verify {

// `usual`: the launch under its first conditions. A deadlock that comes of too few resident clusters becomes
// strict (sim/explore/residency.h). False when `take` wanted no more.
bool try_freedoms(const TrialSetup& setup, const sim::RunResult& usual, unsigned together,
                  const TakeTrial& take);

}  // namespace palladion::verify
