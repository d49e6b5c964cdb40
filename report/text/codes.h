// The texts of the codes that findings have.
#pragma once

#include <string_view>

#include "isa/core/code_text.h"

namespace palladion::report {

// Null: a code of neither the machine nor the checkers.
const isa::CodeText* code_text(isa::CodeNumber code);
// "PLD4307", or "PLD43*" for any that begins so; null when there is none.
const isa::CodeText* find_code_text(std::string_view code);

}  // namespace palladion::report
