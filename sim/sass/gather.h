#pragma once
// Atomics whose address ptxas knows to be the same in all lanes: it adds the lanes up and lets one of them do
// it.
#include <span>

#include "isa/arch/clock.h"
#include "sim/sass/price.h"

namespace palladion::sim::hardware {

void gather(const Program& program, const isa::ClockParameters& parameters, std::span<Price> prices);

}  // namespace palladion::sim::hardware
