#include "sim/program/compile/wgmma_copies.h"

#include <algorithm>
#include <set>

namespace palladion::sim {

namespace {

// A mov of whole registers, or one that packs or unpacks them.
bool copies_registers(const MicroOp& op) {
  if (op.instruction == nullptr || isa::operation(*op.instruction) != isa::Operation::move) return false;
  const auto is_register = [](const isa::Operand& o) { return o.is(isa::Operand::Kind::reg); };
  const isa::Operand& from = op.instruction->operands.back();
  return is_register(from) ||
         (from.is(isa::Operand::Kind::vector) && std::ranges::all_of(from.elements, is_register));
}

std::set<uint32_t> offsets(const std::vector<DecodedOperand>& registers) {
  std::set<uint32_t> out;
  for (const DecodedOperand& r : registers) out.insert(r.slot.offset);
  return out;
}

}  // namespace

void place_wgmma_copies(Program& program) {
  std::set<uint32_t> accumulators, copied;
  bool any = false;
  for (const MicroOp& op : program.code) {
    const auto* w = op.effect == nullptr ? nullptr : std::get_if<isa::Wgmma>(op.effect);
    if (w == nullptr) continue;
    any = true;
    accumulators.merge(offsets(op.operands[w->acc].elements));
  }
  if (!any) return;
  for (MicroOp& op : program.code) {
    if (!copies_registers(op)) continue;
    for (int i = 0; i < op.destinations; ++i) copied.insert(op.d[i].offset);
    op.copies_accumulator = std::any_of(op.s, op.s + op.sources, [&](const Slot& s) {
      return !s.constant && accumulators.contains(s.offset);
    });
  }
  for (MicroOp& op : program.code) {
    const auto* w = op.effect == nullptr ? nullptr : std::get_if<isa::Wgmma>(op.effect);
    if (w == nullptr || w->a_desc >= 0) continue;
    const auto& fragment = op.operands[w->a_regs].elements;
    op.takes_fragment_at_issue = std::ranges::all_of(
        fragment, [&](const DecodedOperand& r) { return copied.contains(r.slot.offset); });
  }
}

}  // namespace palladion::sim
