#pragma once
// The codes of kernels and their arrays.
#include <span>

#include "isa/core/code_text.h"

namespace palladion::kernels {

std::span<const isa::CodeText> kernel_codes();

}  // namespace palladion::kernels
