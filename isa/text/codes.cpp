#include "isa/text/codes.h"

namespace palladion::isa {
namespace {

constexpr CodeText table[] = {
#define PLD_CODE(number, name, ...) text_of(ParseCode::name, __VA_ARGS__),
#include "isa/text/codes.inc"
#undef PLD_CODE
};

}  // namespace

std::span<const CodeText> text_codes() { return table; }

}  // namespace palladion::isa
