#pragma once
// The codes of kernels, their arrays and their launches: each is an entry of one list, codes.inc.
#include <cstdint>
#include <span>

#include "isa/core/code_text.h"

namespace palladion {

// Why a kernel cannot be built or called.
enum class LaunchCode : uint16_t {
#define PLD_CODE(number, name, ...) name = (number),
#include "verify/arrays/codes.inc"
#undef PLD_CODE
};

std::span<const isa::CodeText> launch_codes();  // their texts, by number

}  // namespace palladion
