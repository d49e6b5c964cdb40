#pragma once
// The chip's approximate functions as lane functions, for the machine to call like a Pure.
#include "isa/core/effects.h"
#include "isa/ops/contracted.h"

namespace palladion::sim {

// nullptr: PTX has the combination, but its bits have not been measured.
isa::LanesFn approx_lanes(const isa::Approx&);

// The function and a sum (its last operand) where ptxas puts the multiplication that the function ends with
// and the sum into one fma. nullptr: the function ends otherwise, or flushes unlike the sum.
isa::LanesFn approx_contracted(const isa::Approx&, const isa::Contracted&);

}  // namespace palladion::sim
