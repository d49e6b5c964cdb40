#pragma once
// Time, in cycles of the SM clock. Events happen in whole cycles; units are occupied for parts of them.
#include <cstdint>

namespace palladion::sim::hardware {

using Cycle = uint64_t;  // when an event happens
using Cycles = double;   // how long a unit is occupied, and when it is free

inline constexpr Cycle never = ~0ULL;

// The cycle in which a unit's time lies, and back.
constexpr Cycle cycle_of(Cycles time) { return static_cast<Cycle>(time); }
constexpr Cycles time_of(Cycle cycle) { return static_cast<Cycles>(cycle); }

}  // namespace palladion::sim::hardware
