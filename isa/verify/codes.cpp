#include "isa/verify/codes.h"

namespace palladion::isa {
namespace {

constexpr CodeText table[] = {
#define PLD_CODE(number, name, ...) text_of(VerifyCode::name, __VA_ARGS__),
#include "isa/verify/codes.inc"
#undef PLD_CODE
};

}  // namespace

std::span<const CodeText> verify_codes() { return table; }

}  // namespace palladion::isa
