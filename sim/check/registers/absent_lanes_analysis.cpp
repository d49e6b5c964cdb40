#include "sim/check/registers/absent_lanes_analysis.h"

#include <algorithm>
#include <utility>

#include "sim/machine/exec/actuals.h"

namespace palladion::sim::check {
namespace {

isa::Type type_of(const Program& program, uint32_t function, uint32_t reg) {
  return program.module->functions[function].registers[reg - program.register_offsets_base[function]].type;
}

constexpr uint32_t in_memory = isa::no_id, constant = isa::no_id - 1;

// The register, index into Program::register_offsets, of a call's argument or result.
uint32_t actual_register(const Program& program, const MicroOp& op, const isa::Operand& o) {
  if (o.is(isa::Operand::Kind::reg)) return program.register_offsets_base[op.function] + o.id;
  return is_block(program, o) ? in_memory : constant;
}

uint32_t formal_register(const Program& program, isa::SymbolId id) {
  if (program.module->symbols[id].variable.space != isa::Space::reg) return in_memory;
  const auto at = std::ranges::find(program.register_offsets, program.parameter_registers[id]);
  return static_cast<uint32_t>(at - program.register_offsets.begin());
}

// Instructions that may give undefined values.
bool is_source(const MicroOp& op) {
  if (op.effect == nullptr) return false;
  const auto* const query = std::get_if<isa::QueryCancel>(op.effect);
  return std::holds_alternative<isa::Shuffle>(*op.effect) || (query != nullptr && query->ctaid >= 0);
}

}  // namespace

AbsentLanesAnalysis::AbsentLanesAnalysis(const Program& program)
    : watched_(program.code.size()), held_(program.register_offsets.size()) {
  bool more = false;
  for (const MicroOp& op : program.code) more |= is_source(op);
  while (more) {
    more = false;
    for (const MicroOp& op : program.code)
      more |= (is_source(op) || watched_[op.pc] != 0) && spread(program, op);
    for (const MicroOp& op : program.code) {
      bool names = is_source(op) || program.footprint(op).next == isa::Control::calls;
      for_each_register(program, op, [&](const RegisterUse& use) { names |= held_[use.reg] != 0; });
      if (in_private_memory_) {
        const isa::Footprint& f = program.footprint(op);
        names |= f.read() != nullptr && may_be_private(f.read()->space);
        names |= f.written() != nullptr && may_be_private(f.written()->space);
      }
      more |= names && watched_[op.pc] == 0;
      watched_[op.pc] |= static_cast<uint8_t>(names);
    }
  }
}

uint32_t AbsentLanesAnalysis::width(uint32_t slot) const {
  const auto at = width_of_.find(slot);
  return at == width_of_.end() ? 1 : at->second;
}

// Of an instruction that a tainted register flows into, or that gives undefined values itself: its results.
// True when one is new.
bool AbsentLanesAnalysis::spread(const Program& program, const MicroOp& op) {
  if (const auto* const call = std::get_if<isa::Call>(op.effect)) return pass(program, op, *call);
  bool more = false, reads = is_source(op);
  const isa::Footprint& f = program.footprint(op);
  for_each_register(program, op, [&](const RegisterUse& use) { reads |= use.reads && held_[use.reg] != 0; });
  if (f.written() != nullptr && may_be_private(f.written()->space) && reads)
    more |= !std::exchange(in_private_memory_, true);
  reads |= in_private_memory_ && f.read() != nullptr && may_be_private(f.read()->space);
  if (!reads) return more;
  for_each_register(
      program, op, [&](const RegisterUse& use) { more |= use.writes && add(program, use.reg, op.function); });
  return more;
}

// Of a call: arguments into the parameters, results back. Any function may be the callee of an indirect one.
bool AbsentLanesAnalysis::pass(const Program& program, const MicroOp& op, const isa::Call& call) {
  bool more = false;
  const auto copy = [&](uint32_t from, uint32_t to, uint32_t function) {
    if (from == constant || to == constant) return;
    if (from == in_memory ? !in_private_memory_ : held_[from] == 0) return;
    more |= to == in_memory ? !std::exchange(in_private_memory_, true) : add(program, to, function);
  };
  const DecodedOperand& target = op.operands[call.function];
  const Actuals arguments = actuals(op, call.arguments), results = actuals(op, call.returns);
  for (uint32_t f = 0; f < program.function_start.size(); ++f) {
    const isa::Function& callee = program.module->functions[f];
    const bool other = target.kind == DecodedOperand::Kind::function && target.id != f;
    if (other || callee.entry || program.function_start[f] == isa::no_id) continue;
    for (size_t i = 0; i < std::min(arguments.size(), callee.params.size()); ++i)
      copy(actual_register(program, op, (*arguments.written)[i]), formal_register(program, callee.params[i]),
           f);
    for (size_t i = 0; i < std::min(results.size(), callee.returns.size()); ++i)
      copy(formal_register(program, callee.returns[i]), actual_register(program, op, (*results.written)[i]),
           op.function);
  }
  return more;
}

bool AbsentLanesAnalysis::add(const Program& program, uint32_t reg, uint32_t function) {
  if (held_[reg] != 0) return false;
  held_[reg] = 1;
  const isa::Type type = type_of(program, function, reg);
  width_of_[program.register_offsets[reg]] = type == isa::Type::pred ? 1 : 8 * isa::bytes(type);
  return true;
}

}  // namespace palladion::sim::check
