#pragma once
// Which loads of GMEM share a scoreboard: an instruction that waits for one of them waits for all.
#include <span>

#include "sim/sass/lowered.h"

namespace palladion::sim::sass {

void assign_scoreboards(const Program& program, std::span<LoweredInstruction> code);

}  // namespace palladion::sim::sass
