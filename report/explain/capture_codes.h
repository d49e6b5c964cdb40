#pragma once
// PLD81xx: what libpalladion_capture.so says while it records launches. It contains no texts itself, because
// nothing of ours but the recording is to be in other programs.
#include <span>

#include "isa/core/code_text.h"

namespace palladion::report {

std::span<const isa::CodeText> capture_codes();

}  // namespace palladion::report
