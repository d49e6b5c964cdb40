#pragma once
// What a CTA needs of an SM: registers (an estimate, where there is no ptxas) and named barriers.
#include <cstdint>

#include "sim/program/program.h"

namespace palladion::sim::sass {

// 32-bit registers a thread: the most that are live at once in the entry function, and what ptxas takes
// besides; no more than the launch bounds allow. ptxas may need fewer, or more where it moves loads ahead.
uint32_t estimated_registers(const Program& program);

// As ptxas counts them: up to the highest that is named, all of them when a register names one.
uint32_t named_barriers(const Program& program);

}  // namespace palladion::sim::sass
