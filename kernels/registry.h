#pragma once
// The kernels by name.
#include <span>
#include <string_view>

#include "kernels/spec.h"

namespace palladion::kernels {

// In the order of the list that people read.
std::span<const KernelSpec> all_kernels();
const KernelSpec* find_kernel(std::string_view name);

}  // namespace palladion::kernels
