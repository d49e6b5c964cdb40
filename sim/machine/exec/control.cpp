// Pure functions and control flow.
#include <algorithm>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/specials.h"

namespace palladion::sim {

Step compute(Exec& x, const MicroOp& op) {
  isa::LaneArgs a;
  a.d[0] = x.lanes<void>(op.d[0]);
  for (int i = 0; i < op.sources; ++i) a.s[i] = x.lanes<void>(op.s[i]);
  a.mask = x.active;
  op.fn(a);
  return Step::next;
}

Step compute_general(Exec& x, const MicroOp& op) {
  if (op.dynamic_special) refresh_specials(x);
  isa::LaneArgs a;
  uint32_t inverted[8];
  for (int i = 0; i < op.destinations; ++i) a.d[i] = x.lanes<void>(op.d[i]);
  for (int i = 0; i < op.sources; ++i) {
    a.s[i] = x.lanes<void>(op.s[i]);
    if ((op.negated_sources >> i & 1) == 0) continue;
    inverted[i] = ~*x.lanes<uint32_t>(op.s[i]);
    a.s[i] = &inverted[i];
  }
  a.mask = x.active;
  op.fn(a);
  return Step::next;
}

Step diverge(Exec& x, uint32_t taken, uint32_t target) {
  LaneGroup& g = x.self();
  if (taken == g.mask) {
    x.pc = Pc(target);
    return Step::jump;
  }
  if (taken == 0) return Step::next;
  LaneGroup other = g;
  other.mask = taken;
  other.pc = Pc(target);
  g.mask &= ~taken;
  g.pc = x.pc + 1;
  x.warp->groups.push_back(std::move(other));
  return Step::split;
}

Step exec(Exec& x, const MicroOp& op, const isa::Branch& e) {
  return diverge(x, x.active, op.operands[e.target].id);
}

Step exec(Exec& x, const MicroOp& op, const isa::BranchIndexed& e) {
  const auto& targets = x.program.branch_lists[op.operands[e.targets].id];
  const DecodedOperand& index = op.operands[e.index];
  uint32_t left = x.active;
  const uint64_t first = x.lane_value(index, std::countr_zero(left));
  uint32_t same = 0;
  for (uint32_t m = left; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t value = x.lane_value(index, i);
    if (value >= targets.size())
      return x.fault(Code::branch_index, say<Phrase::no_branch_target>(value, targets.size()));
    if (value == first) same |= 1U << i;
  }
  // Lanes with another index stay at this instruction and try again as a group of their own.
  if (same == x.self().mask) {
    x.pc = targets[first];
    return Step::jump;
  }
  LaneGroup& g = x.self();
  LaneGroup other = g;
  other.mask = same;
  other.pc = targets[first];
  g.mask &= ~same;
  g.pc = left == same ? x.pc + 1 : x.pc;
  x.warp->groups.push_back(std::move(other));
  return Step::split;
}

Step exec(Exec& x, const MicroOp& op, const isa::Return&) {
  LaneGroup& g = x.self();
  if (g.calls.empty()) return exec(x, op, isa::Exit{});
  leave_frames(x, op.function, g.calls.back());
  if (x.active != g.mask) {  // @p ret: the other lanes continue
    LaneGroup rest = g;
    rest.mask &= ~x.active;
    rest.pc = x.pc + 1;
    g.mask = x.active;
    g.pc = g.calls.back();
    g.calls.pop_back();
    g.resumed = true;  // the call finishes: it copies the results
    x.warp->groups.push_back(std::move(rest));
    return Step::split;
  }
  x.pc = g.calls.back();
  g.calls.pop_back();
  g.resumed = true;
  return Step::jump;
}

void exit_lanes(Exec& x, uint32_t lanes) {
  x.warp->alive &= ~lanes;
  x.cta->alive_threads -= static_cast<uint32_t>(std::popcount(lanes));
  x.self().mask &= ~lanes;
  release_after_exit(*x.cta);
  // Barriers do not wait for a thread that has exited, and its exit is not an arrival.
  ClusterBarrierState& b = x.cluster.barrier;
  if (x.warp->cluster_arrived_in == b.generation)
    b.arrived -= std::min(b.arrived, static_cast<uint32_t>(std::popcount(lanes & x.warp->cluster_arrived)));
  complete_cluster_barrier(x.cluster);
  x.changed();
  if (x.wants<Exited>()) x.emit(Exited{x.origin(lanes)});
}

Step exec(Exec& x, const MicroOp&, const isa::Exit&) {
  const uint32_t lanes = x.active != 0 ? x.active : x.self().mask;
  exit_lanes(x, lanes);
  if (x.self().mask != 0) x.self().pc = x.pc + 1;
  return Step::split;
}

// cooperative_groups asks for the workspace of a cooperative launch, and traps when there is none.
bool lacks_grid_barrier(const Exec& x) {
  if (x.launch.environment[1] != 0 || x.launch.environment[2] != 0) return false;
  constexpr uint32_t most = 16;  // instructions from the question to the trap
  const auto asks = [](const MicroOp& op) {
    return op.instruction != nullptr &&
           std::ranges::any_of(op.instruction->operands, [](const isa::Operand& o) {
             return o.is(isa::Operand::Kind::special) && o.special == isa::Special::envreg;
           });
  };
  for (Pc pc = x.pc; pc > 0 && x.pc - pc < most;)
    if (asks(x.program.code[--pc])) return true;
  return false;
}

Step exec(Exec& x, const MicroOp&, const isa::Trap& e) {
  if (e.breakpoint)
    return x.fault(Code::trap, say<Phrase::trap_executed>("brkpt"), say<Phrase::remove_breakpoint>());
  if (lacks_grid_barrier(x)) return x.fault(Code::no_grid_barrier);
  return x.fault(Code::trap, say<Phrase::trap_executed>("trap"), say<Phrase::why_trap>());
}

Step exec(Exec&, const MicroOp&, const isa::Nanosleep&) { return Step::yield; }

// One grid runs at a time: there is nothing to wait for.
Step exec(Exec&, const MicroOp&, const isa::GridDependency&) { return Step::next; }

Step exec(Exec& x, const MicroOp&, const isa::Unsupported& e) {
  return x.unsupported(say<Phrase::stated_reason>(e.reason));
}

}  // namespace palladion::sim
