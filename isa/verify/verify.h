#pragma once
// Rules that a module must keep before it runs: operand kinds and widths, what version and target
// an instruction needs, labels and symbols that exist, directives that fit.
#include "isa/core/module.h"

namespace palladion::isa {

Diagnostics verify(const Module& module);

}  // namespace palladion::isa
