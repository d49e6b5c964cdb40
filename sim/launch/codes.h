#pragma once
// The machine's codes.
#include <span>

#include "isa/core/code_text.h"

namespace palladion::sim {

std::span<const isa::CodeText> run_codes();  // The codes of what a run can report.

}  // namespace palladion::sim
