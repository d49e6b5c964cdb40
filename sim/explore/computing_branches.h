#pragma once
// Branches whose ways only compute, and meet again: they decide values alone.
#include <cstdint>
#include <vector>

#include "sim/program/program.h"

namespace palladion::sim::check {

// By pc: of a conditional branch, the instruction where its ways meet when there is nothing before it but
// computation in registers, lane by lane, without a loop; no_id: of all others.
std::vector<uint32_t> computing_branches(const Program& program);

}  // namespace palladion::sim::check
