#pragma once
// The parser's codes.
#include <span>

#include "isa/core/code_text.h"

namespace palladion::isa {

std::span<const CodeText> text_codes();

}  // namespace palladion::isa
