#pragma once
// What ptxas makes of instructions that stand together, which the row of a single one cannot say: sums that
// become part of an address or of a product, logic of three inputs, loops that are unrolled, comparisons
// that are made before their branch. From definitions and uses alone.
#include <span>

#include "sim/sass/lowered.h"

namespace palladion::sim::sass {

// `code` by pc, each instruction on its own.
void fold(const Program& program, std::span<LoweredInstruction> code);

}  // namespace palladion::sim::sass
