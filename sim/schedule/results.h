#pragma once
// How a grid's run ends, with a clock or without: what its clusters leave behind, and why it was ended.
#include <span>

#include "sim/launch/launch.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim {

struct Program;

// Moves the cluster's findings into the result; true when one of them stops the grid.
bool take_findings(ClusterState& cluster, RunResult& result);
// The same with its instructions and what it printed, once, when it leaves.
bool take_results(ClusterState& cluster, RunResult& result);

// Nothing can move any more; the observer, if any, may explain it better.
void report_deadlock(const Program& program, std::span<const ClusterState* const> resident,
                     bool more_clusters, Observer* observer, RunResult& result);
// PLD3002: the limit of instructions is reached.
Finding given_up(uint64_t instructions);

}  // namespace palladion::sim
