#pragma once
// The codes of a real device.
#include <span>

#include "isa/core/code_text.h"

namespace palladion::cuda::native {

std::span<const isa::CodeText> device_codes();  // The codes of what a device run can report.

}  // namespace palladion::cuda::native
