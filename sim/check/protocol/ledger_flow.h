#pragma once
// Where a warp can still get to from an instruction: what a deadlock report asks of the program.
#include <cstdint>
#include <vector>

#include "sim/program/program.h"

namespace palladion::sim::check {

// Every pc that control can reach from `starts`, the starts themselves included. Calls are followed and
// returned from; indirect ones reach every function.
std::vector<bool> reachable(const Program& program, const std::vector<uint32_t>& starts);

// False when no instruction looks at the result of the test_wait or try_wait at `pc` before it is
// overwritten.
bool wait_result_used(const Program& program, uint32_t pc);

}  // namespace palladion::sim::check
