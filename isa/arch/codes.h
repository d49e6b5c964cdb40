#pragma once
// The codes of clock files: each is an entry of one list, codes.inc.
#include <cstdint>
#include <span>

#include "isa/core/code_text.h"

namespace palladion::isa {

// What is wrong with a file of a clock's parameters.
enum class ClockCode : uint16_t {
#define PLD_CODE(number, name, ...) name = (number),
#include "isa/arch/codes.inc"
#undef PLD_CODE
};

std::span<const CodeText> clock_codes();  // their texts, by number

}  // namespace palladion::isa
