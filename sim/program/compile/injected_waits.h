#pragma once
// Waits that ptxas injects (its message C7517): an instruction that touches accumulators of a wgmma in
// flight, which PTX leaves undefined, waits for the warpgroup's products first.
#include "sim/program/program.h"

namespace palladion::sim {

/// Marks the instructions that may touch accumulators before a wgmma.wait_group covers their wgmma; they wait
/// if the wgmma is in flight when they execute. PLD4403 is their finding, whatever the machine does.
void place_injected_waits(Program& program);

}  // namespace palladion::sim
