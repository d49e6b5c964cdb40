#include "sim/program/reach.h"

namespace palladion::sim {

void visit_successors(const Program& p, Pc pc, bool into_calls, const std::function<void(Pc)>& visit) {
  const MicroOp& op = p.code[pc];
  const bool guarded = op.guard >= 0;
  if (op.effect == nullptr) return visit(pc + 1);
  if (const auto* b = std::get_if<isa::Branch>(op.effect)) {
    visit(Pc(op.operands[b->target].id));
    if (guarded) visit(pc + 1);
    return;
  }
  if (const auto* b = std::get_if<isa::BranchIndexed>(op.effect)) {
    for (const Pc target : p.branch_lists[op.operands[b->targets].id]) visit(target);
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
  if (!leaves || guarded) visit(pc + 1);
}

std::vector<bool> reachable(const Program& program, const std::vector<Pc>& starts, Pc without) {
  std::vector<bool> seen(program.code.size());
  std::vector<Pc> work;
  const auto add = [&](Pc pc) {
    if (pc >= seen.size() || seen[pc] || pc == without) return;
    seen[pc] = true;
    work.push_back(pc);
  };
  for (const Pc pc : starts) add(pc);
  while (!work.empty()) {
    const Pc pc = work.back();
    work.pop_back();
    visit_successors(program, pc, true, add);
  }
  return seen;
}

std::vector<bool> loop_through(const Program& program, Pc pc) {
  const auto size = static_cast<uint32_t>(program.code.size());
  std::vector<std::vector<Pc>> before(size);
  for (Pc at{0}; at < size; ++at)
    visit_successors(program, at, true, [&](Pc next) {
      if (next < size) before[next].push_back(at);
    });
  std::vector<bool> loop(size);
  const std::vector<bool> ahead = reachable(program, {pc});
  std::vector<Pc> work{pc};
  while (!work.empty()) {
    const Pc at = work.back();
    work.pop_back();
    for (const Pc from : before[at]) {
      if (loop[from] || !ahead[from]) continue;
      loop[from] = true;
      work.push_back(from);
    }
  }
  return loop;
}

}  // namespace palladion::sim
