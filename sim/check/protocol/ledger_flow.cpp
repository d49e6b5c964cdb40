#include "sim/check/protocol/ledger_flow.h"

#include "isa/core/form.h"

namespace palladion::sim::check {
namespace {

bool guarded(const MicroOp& op) { return op.guard >= 0; }

// Calls visit(pc) for every instruction that may follow; `into_calls`: bodies of callees too.
template <class Visit>
void successors(const Program& p, uint32_t pc, bool into_calls, Visit visit) {
  const MicroOp& op = p.code[pc];
  if (op.effect == nullptr) return visit(pc + 1);
  if (const auto* b = std::get_if<isa::Branch>(op.effect)) {
    visit(op.operands[b->target].id);
    if (guarded(op)) visit(pc + 1);
    return;
  }
  if (const auto* b = std::get_if<isa::BranchIndexed>(op.effect)) {
    for (const uint32_t target : p.branch_lists[op.operands[b->targets].id]) visit(target);
    return visit(pc + 1);
  }
  if (const auto* c = std::get_if<isa::Call>(op.effect); c != nullptr && into_calls) {
    const DecodedOperand& callee = op.operands[c->function];
    const bool direct = callee.kind == DecodedOperand::Kind::function;
    for (uint32_t f = 0; f < p.function_start.size(); ++f)
      if (p.function_start[f] != isa::no_id && (!direct || callee.id == f)) visit(p.function_start[f]);
  }
  const bool leaves =
      std::holds_alternative<isa::Return>(*op.effect) || std::holds_alternative<isa::Exit>(*op.effect);
  if (!leaves || guarded(op)) visit(pc + 1);
}

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

}  // namespace

std::vector<bool> reachable(const Program& program, const std::vector<uint32_t>& starts) {
  std::vector<bool> seen(program.code.size());
  std::vector<uint32_t> work;
  const auto add = [&](uint32_t pc) {
    if (pc >= seen.size() || seen[pc]) return;
    seen[pc] = true;
    work.push_back(pc);
  };
  for (const uint32_t pc : starts) add(pc);
  while (!work.empty()) {
    const uint32_t pc = work.back();
    work.pop_back();
    successors(program, pc, true, add);
  }
  return seen;
}

bool wait_result_used(const Program& program, uint32_t pc) {
  const MicroOp& wait = program.code[pc];
  const auto* e = wait.effect == nullptr ? nullptr : std::get_if<isa::Mbarrier>(wait.effect);
  if (e == nullptr || e->dst < 0 || wait.operands[e->dst].kind != DecodedOperand::Kind::lanes) return true;
  const uint32_t offset = wait.operands[e->dst].slot.offset;
  std::vector<bool> seen(program.code.size());
  std::vector<uint32_t> work;
  const auto add = [&](uint32_t next) {
    if (next >= seen.size() || seen[next]) return;
    seen[next] = true;
    work.push_back(next);
  };
  successors(program, pc, false, add);
  while (!work.empty()) {
    const uint32_t at = work.back();
    work.pop_back();
    const RegisterAccess d = access_of(program.code[at], offset);
    if (d == RegisterAccess::reads) return true;
    if (d == RegisterAccess::nothing) successors(program, at, false, add);
  }
  return false;
}

}  // namespace palladion::sim::check
