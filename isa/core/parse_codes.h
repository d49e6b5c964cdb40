#pragma once
// The parser's codes: each is an entry of one list, parse_codes.inc.
#include <cstdint>
#include <span>

#include "isa/core/code_text.h"

namespace palladion::isa {

// What is wrong with a text.
enum class ParseCode : uint16_t {
#define PLD_CODE(number, name, ...) name = (number),
#include "isa/core/parse_codes.inc"
#undef PLD_CODE
};

std::span<const CodeText> text_codes();  // their texts, by number

}  // namespace palladion::isa
