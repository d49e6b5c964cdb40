#pragma once
// cuDeviceGetAttribute's answers for a chip.
#include <optional>

#include "isa/arch/arch.h"

namespace palladion::cuda::driver {

// None: there is no such attribute (CUdevice_attribute).
std::optional<int> device_attribute(const isa::ArchSpec& arch, int attribute);

}  // namespace palladion::cuda::driver
