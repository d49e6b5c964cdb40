#pragma once
// Atomics whose address ptxas knows to be the same in all lanes: it adds the lanes up and lets one of them do
// it.
#include <span>

#include "sim/sass/lowered.h"

namespace palladion::sim::sass {

void gather(const Program& program, std::span<LoweredInstruction> code);

}  // namespace palladion::sim::sass
