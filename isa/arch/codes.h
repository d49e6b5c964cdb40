#pragma once
// The codes of clock files.
#include <span>

#include "isa/core/code_text.h"

namespace palladion::isa {

std::span<const CodeText> clock_codes();

}  // namespace palladion::isa
