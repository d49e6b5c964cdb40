#include "sim/check/registers/absent_lanes_analysis.h"

#include <utility>

namespace palladion::sim::check {
namespace {

isa::Type type_of(const Program& program, uint32_t function, uint32_t reg) {
  return program.module->functions[function].registers[reg - program.register_offsets_base[function]].type;
}

}  // namespace

AbsentLanesAnalysis::AbsentLanesAnalysis(const Program& program)
    : watched_(program.code.size()), held_(program.register_offsets.size()) {
  bool more = false;
  const auto is_shuffle = [](const MicroOp& op) {
    return op.effect != nullptr && std::holds_alternative<isa::Shuffle>(*op.effect);
  };
  for (const MicroOp& op : program.code) more |= is_shuffle(op);
  while (more) {
    more = false;
    for (const MicroOp& op : program.code)
      more |= (is_shuffle(op) || watched_[op.pc] != 0) && spread(program, op);
    for (const MicroOp& op : program.code) {
      bool names = is_shuffle(op);
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

// Of an instruction that a held register, or a shuffle, flows into: its results. True when one is new.
bool AbsentLanesAnalysis::spread(const Program& program, const MicroOp& op) {
  bool more = false, reads = std::holds_alternative<isa::Shuffle>(*op.effect);
  const isa::Footprint& f = program.footprint(op);
  for_each_register(program, op, [&](const RegisterUse& use) { reads |= use.reads && held_[use.reg] != 0; });
  if (f.written() != nullptr && may_be_private(f.written()->space) && reads)
    more |= !std::exchange(in_private_memory_, true);
  reads |= in_private_memory_ && f.read() != nullptr && may_be_private(f.read()->space);
  if (!reads) return more;
  for_each_register(program, op,
                    [&](const RegisterUse& use) { more |= use.writes && add(program, use, op); });
  return more;
}

bool AbsentLanesAnalysis::add(const Program& program, const RegisterUse& use, const MicroOp& op) {
  if (held_[use.reg] != 0) return false;
  held_[use.reg] = 1;
  const isa::Type type = type_of(program, op.function, use.reg);
  width_of_[program.register_offsets[use.reg]] = type == isa::Type::pred ? 1 : 8 * isa::bytes(type);
  return true;
}

}  // namespace palladion::sim::check
