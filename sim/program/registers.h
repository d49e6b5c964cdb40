#pragma once
// Which registers an instruction names, for analyses of a program. Registers are numbered through the
// program as Program::register_offsets is: one function after the other.
#include <cstdint>

#include "sim/program/program.h"

namespace palladion::sim {

struct RegisterUse {
  uint32_t reg = 0;  // index into Program::register_offsets
  int operand = -1;  // of the instruction; -1: its guard
  bool reads = false, writes = false;
  bool address = false;  // the base of an address, or a coordinate
};

namespace detail {
template <class Visit>
void visit_operand(const isa::Operand& o, RegisterUse use, uint32_t base, Visit&& visit) {
  if (o.is(isa::Operand::Kind::reg)) {
    use.reg = base + o.id;
    visit(use);
    return;
  }
  if (o.is(isa::Operand::Kind::address)) use.address = use.reads = true;
  if (o.is(isa::Operand::Kind::address)) use.writes = false;
  for (const isa::Operand& e : o.elements) visit_operand(e, use, base, visit);
}
}  // namespace detail

// Calls visit(RegisterUse) for each register that the instruction names, its guard first.
template <class Visit>
void for_each_register(const Program& program, const MicroOp& op, Visit&& visit) {
  if (op.instruction == nullptr) return;
  const isa::Instruction& i = *op.instruction;
  const uint32_t base = program.register_offsets_base[op.function];
  if (i.guard.reg != isa::no_id) visit(RegisterUse{.reg = base + i.guard.reg, .reads = true});
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const isa::OperandDef& def = i.form->operands[k];
    detail::visit_operand(i.operands[k],
                          {.operand = static_cast<int>(k), .reads = def.reads, .writes = def.writes}, base,
                          visit);
  }
}

}  // namespace palladion::sim
