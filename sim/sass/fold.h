#pragma once
// What ptxas makes of instructions that stand together, which no price of a single one can say: sums that
// become part of an address or of a product, logic of three inputs, loops that are unrolled, comparisons
// that are made before their branch. Once a program, from definitions and uses alone.
#include <span>

#include "sim/program/program.h"
#include "sim/sass/price.h"

namespace palladion::sim::hardware {

// `prices` by pc, of each instruction alone.
void fold(const Program& program, std::span<Price> prices);

}  // namespace palladion::sim::hardware
