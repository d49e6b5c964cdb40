#pragma once
// Where ptxas contracts: basic blocks as it sees them, and the instructions that it keeps.
#include <cstdint>
#include <vector>

#include "isa/core/cfg.h"
#include "sim/program/contraction/function_code.h"

namespace palladion::sim::contraction {

using Region = std::vector<uint32_t>;  // instructions, in order

// Basic blocks: a label that nothing but the instruction before it leads to ends none.
std::vector<Region> regions(const FunctionCode& code, const isa::Cfg& cfg);

// By instruction: it does more than compute, or something reads its result that is not removed itself.
std::vector<bool> kept(const FunctionCode& code);

}  // namespace palladion::sim::contraction
