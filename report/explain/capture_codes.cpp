#include "report/explain/capture_codes.h"

#include "cuda/capture/codes.h"

namespace palladion::report {
namespace {

constexpr isa::CodeText capture_table[] = {
#define PLD_CODE(number, name, ...) isa::text_of(cuda::capture::Code::name, __VA_ARGS__),
#include "cuda/capture/codes.inc"
#undef PLD_CODE
};

}  // namespace

std::span<const isa::CodeText> capture_codes() { return capture_table; }

}  // namespace palladion::report
