#pragma once
// The chip's approximate functions as lane functions, for the machine to call like a Pure.
#include "isa/core/effects.h"

namespace palladion::sim {

// nullptr: PTX has the combination, but its bits have not been measured.
isa::LanesFn approx_lanes(const isa::Approx&);

}  // namespace palladion::sim
