#pragma once
// Functions that a program calls and the system defines: vprintf, malloc, free, __assertfail, and the
// device's runtime library of kernels that launch kernels.
#include <string_view>

#include "sim/machine/exec/handlers.h"

namespace palladion::sim {

Step call_system(Exec& x, const MicroOp& op, const isa::Call& e, const isa::Function& f);
// The function of this name takes blocks from the device's heap.
bool uses_heap(std::string_view function);

}  // namespace palladion::sim
