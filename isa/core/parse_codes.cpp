#include "isa/core/parse_codes.h"

namespace palladion::isa {
namespace {

constexpr CodeText parse_table[] = {
#define PLD_CODE(number, name, ...) text_of(ParseCode::name, __VA_ARGS__),
#include "isa/core/parse_codes.inc"
#undef PLD_CODE
};

}  // namespace

std::span<const CodeText> text_codes() { return parse_table; }

}  // namespace palladion::isa
