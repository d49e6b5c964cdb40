#pragma once
// Rules that a module must keep before it runs: operand kinds and widths, what version and target
// an instruction needs, labels and symbols that exist, directives that fit.
#include <optional>

#include "isa/arch/arch.h"
#include "isa/core/module.h"

namespace palladion::isa {

// For no particular chip: the module may have any target, the limits are default_arch()'s.
Diagnostics verify(const Module& module);
// For one chip: its limits, and refuse_target.
Diagnostics verify(const Module& module, const ArchSpec& arch);

// PLD1035 when the chip cannot run code of the module's `.target`, with the first instruction that it lacks.
std::optional<Diagnostic> refuse_target(const Module& module, const ArchSpec& arch);

}  // namespace palladion::isa
