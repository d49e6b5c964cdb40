#pragma once
// What a run that hangs is waiting for.
#include <span>

#include "sim/launch/finding.h"
#include "sim/machine/state/global_memory.h"
#include "sim/program/program.h"

namespace palladion::sim {

// `more_clusters`: CTAs that have not been started wait for room.
Finding describe_deadlock(const Program& program, const GlobalMemory& memory,
                          std::span<const ClusterState* const> resident, bool more_clusters);

// Whether lanes read memory again and again.
bool some_spin(std::span<const ClusterState* const> resident);

}  // namespace palladion::sim
