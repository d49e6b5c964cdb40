#include "verify/arrays/codes.h"

namespace palladion {
namespace {

constexpr isa::CodeText table[] = {
#define PLD_CODE(number, name, ...) isa::text_of(LaunchCode::name, __VA_ARGS__),
#include "verify/arrays/codes.inc"
#undef PLD_CODE
};

}  // namespace

std::span<const isa::CodeText> launch_codes() { return table; }

}  // namespace palladion
