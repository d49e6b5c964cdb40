#pragma once
// Numbers given at launch, as the recorder and the launch keep them.
#include <source_location>
#include <vector>

#include "frontend/launch/kernel.h"

namespace palladion::plgpu {

// Makes each a parameter of the kernel that is being recorded.
void declare_scalars(const std::vector<NamedScalar>& scalars, const std::source_location& loc);

}  // namespace palladion::plgpu
