// What ptxas computes earlier than the text says, and which loops it unrolls.
#pragma once

#include <span>

#include "sim/sass/lowered.h"
#include "sim/sass/register_uses.h"

namespace palladion::sim::sass {

// Behind `fold`: marks branches that spin, comparisons and addresses that are computed early, unrolled loops.
void place_early(const Program& program, const RegisterUses& uses, std::span<LoweredInstruction> code);

}  // namespace palladion::sim::sass
