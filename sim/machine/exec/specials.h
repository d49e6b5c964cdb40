#pragma once
// Special registers and the other values that a warp finds in its registers when it starts.
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

// Fills the warp's initial values (Program::initial_values).
void initialise_registers(Exec& x);
// Brings clocks up to date.
void refresh_specials(Exec& x);

}  // namespace palladion::sim
