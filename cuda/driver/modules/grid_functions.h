#pragma once
// The grid's barrier as calls of CUDA's device library (libcudadevrt): compilers that have no
// cooperative_groups.h, as numba's, call them.
#include <memory>

#include "isa/core/module.h"

namespace palladion::cuda::driver {

// Definitions of what `module` declares of them; null: it declares none.
std::unique_ptr<isa::Module> grid_functions_for(const isa::Module& module);

}  // namespace palladion::cuda::driver
