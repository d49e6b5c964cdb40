#pragma once
// The verifier's codes: each is an entry of one list, codes.inc.
#include <cstdint>
#include <span>

#include "isa/core/code_text.h"

namespace palladion::isa {

// Why a module may not run.
enum class VerifyCode : uint16_t {
#define PLD_CODE(number, name, ...) name = (number),
#include "isa/verify/codes.inc"
#undef PLD_CODE
};

std::span<const CodeText> verify_codes();  // their texts, by number

}  // namespace palladion::isa
