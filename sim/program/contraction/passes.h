#pragma once
// Sums that ptxas may contract after it unrolled a loop: what the machine does not model, counted.
#include <cstdint>
#include <vector>

#include "sim/program/contraction/function_code.h"
#include "sim/program/loops.h"

namespace palladion::sim {

// Sums of the function that add a product of an earlier pass of a loop which holds both, and that are no fma
// yet. `fused`: by instruction, whether it is. ptxas contracts such a pair in some passes and not in others.
// Loops with .pragma "nounroll" do not count.
uint32_t sums_across_passes(const contraction::FunctionCode& code, const isa::Cfg& cfg, const Loops& loops,
                            const std::vector<bool>& fused);

}  // namespace palladion::sim
