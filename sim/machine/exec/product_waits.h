#pragma once
// Handlers of instructions that touch registers of a wgmma in flight.
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

// Waits for the products whose accumulators it touches (sim/program/compile/injected_waits.h).
Step exec_after_products(Exec&, const MicroOp&);
// Waits for the warp's committed products (sim/program/compile/wgmma_copies.h).
Step exec_copy_of_accumulator(Exec&, const MicroOp&);

}  // namespace palladion::sim
