#pragma once
// Time, in cycles of the SM clock. Events happen in whole cycles; units are occupied for parts of them.
#include "sim/launch/index.h"

namespace palladion::sim::hardware {

using Cycles = double;  // how long a unit is occupied, and when it is free

using ClusterOfGroup = isa::Index<struct ClusterOfGroupTag>;  // of a cluster in its group of SMs

inline constexpr Cycle never{~0ULL};

// The cycle in which a unit's time lies, and back; whole cycles that something takes.
constexpr Cycle cycle_of(Cycles time) { return Cycle(static_cast<uint64_t>(time)); }
constexpr uint64_t whole_cycles(Cycles length) { return static_cast<uint64_t>(length); }
constexpr Cycles time_of(Cycle cycle) { return static_cast<Cycles>(uint64_t{cycle}); }

}  // namespace palladion::sim::hardware
