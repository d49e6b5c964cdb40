#pragma once
// What a run that cannot go on is waiting for.
#include <vector>

#include "sim/program/program.h"
#include "sim/launch/finding.h"

namespace palladion::sim {

// `more_clusters`: CTAs that have not been started wait for room.
Finding describe_deadlock(const Program& program, const std::vector<const ClusterState*>& resident,
                          bool more_clusters);

}  // namespace palladion::sim
