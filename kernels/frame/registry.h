#pragma once
// The kernels by name.
#include <span>
#include <string_view>
#include <vector>

#include "kernels/frame/spec.h"

namespace palladion::kernels {

// In the order of the list that people read.
std::span<const KernelSpec> all_kernels();
const KernelSpec* find_kernel(std::string_view name);

// The same kernels, safe to call: recorded for the choice's chip, and an exception of theirs that is no
// isa::Error becomes one (PLD5004). Throws isa::Error (PLD5004) for a kernel without name or `build`, and for
// two of one name.
std::vector<KernelSpec> prepared(std::vector<KernelSpec> specs);

}  // namespace palladion::kernels
