#pragma once
// For observers that follow how values are computed, while an instruction's operands are still there.
#include "sim/machine/state/cluster.h"
#include "sim/program/program.h"

namespace palladion::sim {

// An operand of one lane: its value of up to 64 bits, a hash of a longer one. Of what has no value (a symbol,
// a target): a number of its own.
uint64_t value_bits(const Program& program, const WarpState& warp, const DecodedOperand& o, int lane);
// The operand that selp takes in that lane: 1 or 2.
int selected_operand(const Program& program, const WarpState& warp, const MicroOp& selp, int lane);
// The same for instructions of one form with the same modifiers, wherever they stand.
uint64_t operation_hash(const isa::Instruction& i);
// What a lane gets is made of other lanes' operands, too.
bool crosses_lanes(const isa::Footprint& f);

}  // namespace palladion::sim
