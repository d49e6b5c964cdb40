#pragma once
// What ptxas computes itself because it knows the operands, and divisions that find a reciprocal that is
// there.
#include <span>

#include "sim/sass/lowered.h"

namespace palladion::sim::sass {

void fold_constants(const Program& program, const isa::ClockParameters& parameters,
                    std::span<LoweredInstruction> code);

}  // namespace palladion::sim::sass
