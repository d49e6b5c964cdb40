// Every diagnostic code of palladion, from the folders that report them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "isa/core/code_text.h"

namespace palladion::report {

using isa::CodeText;

// The tables of all folders that report diagnostics, in ascending order of their numbers.
std::span<const std::span<const CodeText>> all_codes();

const CodeText* find_code(int number);
// "PLD3001", "pld3001", "3001", or an entry of the taxonomy ("MB-13": 4113); 0 for other words.
int code_number(std::string_view word);
// The entry of the taxonomy that a code reports, "MB-13"; empty for other codes.
std::string entry_of(int number);

}  // namespace palladion::report
