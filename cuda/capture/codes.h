#pragma once
// The codes of what libpalladion_capture.so says: each is an entry of one list, codes.inc. Their texts are in
// cli/codes, since nothing but the recording is to be in other programs.
#include <cstdint>

namespace palladion::cuda::capture {

// Why a launch is not recorded as it is.
enum class Code : uint16_t {
#define PLD_CODE(number, name, ...) name = (number),
#include "cuda/capture/codes.inc"
#undef PLD_CODE
};

}  // namespace palladion::cuda::capture
