#include "sim/check/registers/watch.h"

#include "sim/launch/observer.h"

namespace palladion::sim::check {
namespace {

// The function (index in Module::functions) that a register belongs to.
uint32_t function_of(const Program& program, uint32_t reg) {
  uint32_t found = 0;
  for (uint32_t f = 0; f < program.function_start.size(); ++f) {
    if (program.function_start[f] == isa::no_id) continue;
    const uint32_t base = program.register_offsets_base[f];
    if (reg >= base && reg - base < program.module->functions[f].registers.size()) found = f;
  }
  return found;
}

}  // namespace

std::string register_name(const Program& program, uint32_t reg) {
  const uint32_t f = function_of(program, reg);
  return program.module->functions[f].registers[reg - program.register_offsets_base[f]].name;
}

Object register_object(const Program& program, uint32_t reg, WarpOfCta warp) {
  return {.kind = Object::Kind::registers, .names = {{.name = register_name(program, reg)}}, .warp = warp};
}

bool may_accumulate(const MicroOp& op, const isa::Wgmma& wgmma) {
  if (wgmma.scale_d < 0) return true;
  const isa::Operand& scale = op.instruction->operands[static_cast<size_t>(wgmma.scale_d)];
  return !scale.is(isa::Operand::Kind::imm) || scale.bits != 0;
}

}  // namespace palladion::sim::check
