#pragma once
// The instructions that a warp can still reach from another one: control flow for deadlock reports.
#include <cstdint>
#include <vector>

#include "sim/program/program.h"

namespace palladion::sim::check {

// Every pc that control can reach from `starts`, the starts themselves included. Calls are followed and
// returned from; indirect ones reach every function.
std::vector<bool> reachable(const Program& program, const std::vector<uint32_t>& starts);

// False when no instruction reads the result of the test_wait or try_wait at `pc` before it is overwritten.
bool wait_result_used(const Program& program, uint32_t pc);

}  // namespace palladion::sim::check
