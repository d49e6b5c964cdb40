// The texts of the codes that findings have.
#pragma once

#include <string>
#include <string_view>

#include "isa/core/code_text.h"

namespace palladion::report {

// "PLD4307", or "PLD43*" for any that begins so; null when there is none.
const isa::CodeText* find_code_text(std::string_view code);

// Sections of the PTX manual as `PTX, "..."`; a rule that names its manual itself stays as it is.
std::string rule_text(std::string_view rule);

}  // namespace palladion::report
