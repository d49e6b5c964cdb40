#pragma once
// How many registers a thread needs: an estimate, for occupancy where ptxas is not at hand.
#include <cstdint>

#include "sim/exec/program.h"

namespace palladion::sim {

// 32-bit registers a thread: the most that are live at once in the entry function, and what ptxas takes
// besides; no more than the launch bounds allow. ptxas may need fewer, or more where it moves loads ahead.
uint32_t estimated_registers(const Program& program);

}  // namespace palladion::sim
