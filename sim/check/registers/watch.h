#pragma once
// Texts and tests that the register checks share; sim/program/registers.h says which registers an instruction
// names.
#include <cstdint>
#include <string>

#include "sim/machine/exec/place.h"
#include "sim/program/registers.h"

namespace palladion::sim::check {

// "%r5", as the PTX has it.
std::string register_name(const Program& program, uint32_t reg);
Object register_object(const Program& program, uint32_t reg, WarpOfCta warp);
// A store to local memory or to the parameters of a call is a copy like any other.
inline bool is_private(isa::Space s) { return s == isa::Space::local || s == isa::Space::param; }
inline bool may_be_private(isa::Space s) { return is_private(s) || s == isa::Space::generic; }
// True when a wgmma takes its accumulators as they are: its scale-d is not an immediate zero.
bool may_accumulate(const MicroOp& op, const isa::Wgmma& wgmma);

}  // namespace palladion::sim::check
