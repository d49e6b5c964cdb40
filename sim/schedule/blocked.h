#pragma once
// A wait of a stopped run as numbers, for the findings of deadlocks.
#include "sim/launch/finding.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim {

// What the machine's state says of it: no phase's number, no arrivers; an mbarrier is named by its address.
BlockedWait blocked_wait(const ClusterState& cluster, const CtaState& cta, const Wait& wait);

}  // namespace palladion::sim
