// `palladion ptx --lowered`: what ptxas makes of a program, beside its PTX.
#pragma once

#include <string>

#include "sim/sass/lowered.h"

namespace palladion::report {

// A line an instruction: SASS instructions, the unit that executes them, remarks, the PTX; then registers and
// totals by unit.
std::string lowered_text(const sim::Program& program, const sim::sass::Lowered& lowered);

}  // namespace palladion::report
