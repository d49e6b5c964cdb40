#pragma once
// What those who watch registers say of them: sim/program/registers.h tells which an instruction names.
#include <cstdint>
#include <string>

#include "sim/machine/exec/place.h"
#include "sim/program/registers.h"

namespace palladion::sim::check {

// "%r5", as the PTX has it.
std::string register_name(const Program& program, uint32_t reg);
// True when a wgmma takes its accumulators as they are: its scale-d is no immediate zero.
bool may_accumulate(const MicroOp& op, const isa::Wgmma& wgmma);

}  // namespace palladion::sim::check
