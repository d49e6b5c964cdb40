#pragma once
// Instructions that the rules of equivalence may look past.
#include "sim/mutate/flow.h"

namespace palladion::sim::check {

// Computes, branches or ends: touches registers alone, and parameters of the kernel.
bool only_registers(const isa::Effect& effect);
// Also fences.
bool only_fences(const isa::Effect& effect);
// Issues copies or products that run by themselves, or makes groups of them.
bool only_issues(const isa::Effect& effect);
bool is_call(const isa::Effect& effect);

}  // namespace palladion::sim::check
