#pragma once
// The recorder's codes.
#include <span>

#include "isa/core/code_text.h"

namespace palladion::frontend {

std::span<const isa::CodeText> record_codes();

}  // namespace palladion::frontend
