#pragma once
// How much of a thread's stack the functions take on a chip, for the limit of a launch (cudaLimitStackSize).
#include "sim/program/program.h"

namespace palladion::sim {

// Adds to Frame::charge, which has the local variables, the return address and the registers that are live
// across a call of the function, where they are most: what ptxas 13.0 reports for sm_90a, or up to 24 bytes
// less.
void charge_stack(Program& program);

}  // namespace palladion::sim
