#pragma once
// What ptxas computes itself, or makes cheaper, because it knows an operand's value.
#include <span>

#include "isa/arch/clock.h"
#include "sim/sass/price.h"

namespace palladion::sim::hardware {

void fold_constants(const Program& program, const isa::ClockParameters& parameters, std::span<Price> prices);

}  // namespace palladion::sim::hardware
