#include "isa/arch/codes.h"

namespace palladion::isa {
namespace {

constexpr CodeText table[] = {
#define PLD_CODE(number, name, ...) text_of(ClockCode::name, __VA_ARGS__),
#include "isa/arch/codes.inc"
#undef PLD_CODE
};

}  // namespace

std::span<const CodeText> clock_codes() { return table; }

}  // namespace palladion::isa
