#pragma once
// A function of a program: instructions and registers have the function's numbers.
#include "sim/program/registers.h"

namespace palladion::sim::contraction {

struct FunctionCode {
  const Program& program;
  const isa::Function& function;
  uint32_t start;  // where its code begins

  const isa::Instruction& operator[](uint32_t i) const { return function.body[i]; }
  uint32_t size() const { return static_cast<uint32_t>(function.body.size()); }
  const isa::Effect& effect(uint32_t i) const { return *program.code[start + i].effect; }
  // Calls visit(RegisterUse) for each register that instruction `i` names.
  template <class Visit>
  void registers(uint32_t i, Visit&& visit) const {
    const MicroOp& op = program.code[start + i];
    const uint32_t base = program.register_offsets_base[op.function];
    for_each_register(program, op, [&](RegisterUse use) {
      use.reg -= base;
      visit(use);
    });
  }
};

}  // namespace palladion::sim::contraction
