#pragma once
// Functions that a program calls and the system defines: vprintf, malloc, free, __assertfail, and the
// device's runtime library of kernels that launch kernels.
#include "sim/machine/exec/handlers.h"

namespace palladion::sim {

Step call_system(Exec& x, const MicroOp& op, const isa::Call& e, const isa::Function& f);

}  // namespace palladion::sim
