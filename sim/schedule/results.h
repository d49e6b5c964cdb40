#pragma once
// The end of a grid's run, with a clock or without: the results of its clusters, and the reason for the end.
#include <span>

#include "sim/launch/launch.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim {

class GlobalMemory;
struct Program;

// Moves the cluster's findings into the result; true when one of them stops the grid.
bool take_findings(ClusterState& cluster, RunResult& result);
// The same with its instruction count and its output of printf, once, when it is retired.
bool take_results(ClusterState& cluster, RunResult& result);

// Nothing can proceed; the observer, if any, may add an explanation.
void report_deadlock(const Program& program, const GlobalMemory& memory,
                     std::span<const ClusterState* const> resident, bool more_clusters, Observer* observer,
                     RunResult& result);
// Code::gave_up: the limit of instructions is reached.
Finding given_up(uint64_t instructions);

}  // namespace palladion::sim
