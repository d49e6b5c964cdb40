#pragma once
// The verifier's codes.
#include <span>

#include "isa/core/code_text.h"

namespace palladion::isa {

std::span<const CodeText> verify_codes();

}  // namespace palladion::isa
