#pragma once
// Movs between registers beside a wgmma in flight. ptxas gives both registers of a mov one place, so the mov
// vanishes: an accumulator that is copied in front of wgmma.wait_group is read behind it, and an A fragment
// made of movs stays while its wgmma runs. nvcc writes such movs around asm statements.
#include "sim/program/program.h"

namespace palladion::sim {

/// Marks the movs of accumulators, which then wait for the warp's committed wgmmas, and the wgmmas whose A
/// fragment is taken at issue.
void place_wgmma_copies(Program& program);

}  // namespace palladion::sim
