#pragma once
// The codes of the checkers. A code is stated in one place, an entry of one of the lists beside this file:
// number, name and text.
#include <cstdint>

namespace palladion::sim::check {

enum class Code : uint16_t {
  none = 0,
#define PLD_CODE(number, name, ...) name = (number),
#define PLD_CODE_OF_MACHINE(number, name, ...) name = (number),
#include "sim/check/catalogue/codes.inc"
#undef PLD_CODE
#undef PLD_CODE_OF_MACHINE
};

constexpr int number_of(Code code) { return static_cast<int>(code); }

}  // namespace palladion::sim::check
