#pragma once
// Which registers decide what happens: their values get into guards, addresses, counts, descriptors. Over all
// ways through the program at once, without an order of the instructions.
#include <vector>

#include "sim/program/program.h"
#include "sim/program/registers.h"

namespace palladion::sim {

// What happens needs the operand: the guard of more than a computation, an address, or one that the
// instruction's footprint names.
bool decides(const isa::Footprint& f, const RegisterUse& use);

// Computation in registers, lane by lane.
bool only_computes(const isa::Footprint& f);

// Number of registers of the program and one more, the carry flag.
size_t register_count(const Program& program);

// visit(RegisterUse) for the registers of the instruction, the carry flag included.
template <class Visit>
void for_each_value(const Program& program, const MicroOp& op, Visit&& visit) {
  for_each_register(program, op, visit);
  const isa::Footprint& f = program.footprint(op);
  const auto carry = static_cast<uint32_t>(register_count(program) - 1);
  if (f.reads_carry || f.writes_carry)
    visit(RegisterUse{.reg = carry, .operand = 0, .reads = f.reads_carry, .writes = f.writes_carry});
}

// By register: whether its value can get into what decides, through registers and instructions `within`
// (by pc) alone, or into arguments of calls. `stored`: what is stored to
// memory decides as well.
std::vector<bool> deciding_registers(const Program& program, const std::vector<bool>& within, bool stored);

}  // namespace palladion::sim
