#include "sim/check/protocol/ledger_flow.h"

#include "isa/core/form.h"
#include "sim/program/reach.h"

namespace palladion::sim::check {
namespace {

bool guarded(const MicroOp& op) { return op.guard >= 0; }

enum class RegisterAccess : uint8_t { nothing, reads, overwrites };

void visit_registers(const DecodedOperand& o, auto f) {
  if (o.kind == DecodedOperand::Kind::lanes && !o.slot.constant) f(o.slot.offset);
  if (o.kind == DecodedOperand::Kind::address && o.width != 0) f(o.slot.offset);
  for (const DecodedOperand& e : o.elements) visit_registers(e, f);
}

// How an instruction accesses the register at `offset`.
RegisterAccess access_of(const MicroOp& op, uint32_t offset) {
  if (op.guard == static_cast<int32_t>(offset)) return RegisterAccess::reads;
  if (op.instruction == nullptr) return RegisterAccess::nothing;
  bool reads = false, writes = false;
  const auto& operands = op.instruction->operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    bool names = false;
    visit_registers(op.operands[i], [&](uint32_t at) { names |= at == offset; });
    if (!names) continue;
    const bool known = op.instruction->form != nullptr && i < op.instruction->form->operands.size();
    const bool destination = known && op.instruction->form->operands[i].writes;
    (destination ? writes : reads) = true;
  }
  if (reads) return RegisterAccess::reads;
  return writes && !guarded(op) ? RegisterAccess::overwrites : RegisterAccess::nothing;
}

int destination_of(const MicroOp& op) {
  if (op.effect == nullptr) return -1;
  if (const auto* wait = std::get_if<isa::Mbarrier>(op.effect)) return wait->dst;
  const auto* atomic = std::get_if<isa::Atomic>(op.effect);
  return atomic == nullptr ? -1 : atomic->dst;
}

// Some instruction reads the register at `offset` that the one at `pc` writes.
bool register_used(const Program& program, Pc pc, uint32_t offset) {
  std::vector<bool> seen(program.code.size());
  std::vector<uint32_t> work;
  const auto add = [&](uint32_t next) {
    if (next >= seen.size() || seen[next]) return;
    seen[next] = true;
    work.push_back(next);
  };
  visit_successors(program, pc, false, add);
  while (!work.empty()) {
    const uint32_t at = work.back();
    work.pop_back();
    const RegisterAccess d = access_of(program.code[at], offset);
    if (d == RegisterAccess::reads) return true;
    if (d == RegisterAccess::nothing) visit_successors(program, Pc(at), false, add);
  }
  return false;
}

}  // namespace

bool result_used(const Program& program, Pc pc) {
  using Kind = DecodedOperand::Kind;
  const MicroOp& op = program.code[pc];
  const int dst = destination_of(op);
  if (dst < 0) return true;
  const DecodedOperand& result = op.operands[dst];
  if (result.kind != Kind::lanes && result.kind != Kind::vector) return true;
  bool used = false;
  visit_registers(result, [&](uint32_t offset) { used = used || register_used(program, pc, offset); });
  return used;
}

}  // namespace palladion::sim::check
