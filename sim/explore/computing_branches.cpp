#include "sim/explore/computing_branches.h"

#include <algorithm>

#include "sim/program/deciding.h"

namespace palladion::sim::check {
namespace {

constexpr uint32_t longest = 4096;  // instructions: a longer way counts as one that does more

// Of a direct branch; no_id: it is none, or goes back.
uint32_t forward_target(const Program& program, Pc pc) {
  const MicroOp& op = program.code[pc];
  if (op.instruction == nullptr || program.footprint(op).next != isa::Control::branches) return isa::no_id;
  uint32_t target = isa::no_id;
  for (size_t k = 0; k < op.instruction->operands.size(); ++k) {
    const DecodedOperand& o = op.operands[k];
    if (o.kind != DecodedOperand::Kind::target || target != isa::no_id) return isa::no_id;
    target = o.id;
  }
  return target > pc ? target : isa::no_id;
}

uint32_t meeting_of(const Program& program, Pc pc) {
  const MicroOp& branch = program.code[pc];
  uint32_t end = forward_target(program, pc);
  if (end == isa::no_id || branch.guard < 0 || branch.instruction->has("uni")) return isa::no_id;
  for (uint32_t at = pc + 1; at < end; ++at) {
    const MicroOp& op = program.code[at];
    if (end - pc > longest || op.function != branch.function || op.instruction == nullptr) return isa::no_id;
    if (only_computes(program.footprint(op)) && !op.dynamic_special) continue;
    const uint32_t target = forward_target(program, Pc(at));
    if (target == isa::no_id) return isa::no_id;
    end = std::max(end, target);
  }
  return end;
}

}  // namespace

std::vector<uint32_t> computing_branches(const Program& program) {
  std::vector<uint32_t> meetings(program.code.size());
  for (Pc pc{0}; pc < meetings.size(); ++pc) meetings[pc] = meeting_of(program, pc);
  return meetings;
}

}  // namespace palladion::sim::check
