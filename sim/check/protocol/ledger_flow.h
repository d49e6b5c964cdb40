#pragma once
// What the code behind a wait or an atomic does with its result.
#include <cstdint>

#include "sim/program/program.h"

namespace palladion::sim::check {

// False when no instruction reads the result of the test_wait, try_wait or atom at `pc` before it is
// overwritten.
bool result_used(const Program& program, Pc pc);

}  // namespace palladion::sim::check
