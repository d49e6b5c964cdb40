#pragma once
// Frames of functions that may be on a lane's call stack twice, and its stack memory (program.h: Frame).
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

// Local memory of a lane at an offset that is known to be inside.
uint8_t* local_bytes_at(const Exec& x, int lane, uint64_t offset);
// Inside the variables or the stack of the lane, or nullptr.
uint8_t* find_local(const Exec& x, int lane, uint64_t offset, uint64_t size);

// An activation of the function begins in the active lanes: its registers are saved, its variables get a
// place. False after a fault: the stack is full.
bool push_frames(Exec& x, uint32_t function);
// The activation ends: the registers are as they were before it.
void pop_frames(const Exec& x, uint32_t function);

}  // namespace palladion::sim
