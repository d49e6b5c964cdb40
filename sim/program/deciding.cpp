#include "sim/program/deciding.h"

namespace palladion::sim {
namespace {

// Nothing is changed, ordered or computed: nanosleep.
bool only_delays(const isa::Footprint& f) {
  return f.registers_only() && f.next == isa::Control::next && f.values == isa::Values::none;
}

// Adds the registers that one instruction makes decisive; whether there were new ones.
bool add_deciding(const Program& program, const MicroOp& op, bool stored, std::vector<bool>& deciding) {
  const isa::Footprint& f = program.footprint(op);
  bool changed = false;
  bool results = (stored && f.writes_memory()) || f.next == isa::Control::calls;  // arguments in registers
  for_each_value(program, op, [&](const RegisterUse& use) { results |= use.writes && deciding[use.reg]; });
  for_each_value(program, op, [&](const RegisterUse& use) {
    const bool needed = use.reads && (results || (decides(f, use) && !only_delays(f)));
    if (!needed || deciding[use.reg]) return;
    deciding[use.reg] = changed = true;
  });
  return changed;
}

}  // namespace

bool decides(const isa::Footprint& f, const RegisterUse& use) {
  if (!use.reads) return false;
  if (use.operand < 0) return f.values != isa::Values::lane_wise;
  return use.address || f.control.has(use.operand);
}

bool only_computes(const isa::Footprint& f) {
  return f.registers_only() && f.next == isa::Control::next && f.participants == isa::Participants::lanes &&
         f.values == isa::Values::lane_wise;
}

size_t register_count(const Program& program) { return program.register_offsets.size() + 1; }

std::vector<bool> deciding_registers(const Program& program, const std::vector<bool>& within, bool stored) {
  std::vector<bool> deciding(register_count(program));
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t pc = program.code.size(); pc-- > 0;)
      if (within[pc]) changed |= add_deciding(program, program.code[pc], stored, deciding);
  }
  return deciding;
}

}  // namespace palladion::sim
