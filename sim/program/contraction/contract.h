#pragma once
// Products and sums that ptxas makes one fma of. Once a program, after it was decoded: the micro-op of such a
// sum gets the factors of the product, and costs nothing more when it is executed. README.md has the rule.
#include "sim/program/program.h"

namespace palladion::sim {

// `fmad` false: as after ptxas --fmad=false.
void contract(Program& program, bool fmad);

}  // namespace palladion::sim
