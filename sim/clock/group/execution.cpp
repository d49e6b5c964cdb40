#include "sim/clock/group/execution.h"

namespace palladion::sim::hardware {

Exec Execution::of(Warp& w) const {
  Exec x(context_->run_of(*w.cluster));
  x.cta = w.cta;
  x.warp = w.warp;
  x.watch = context_->watch;
  x.registers = w.warp->registers.data();
  return x;
}

bool Execution::pass_folded(Warp& w, uint32_t lane_group, Answers& answers) {
  const InstructionCost& cost = (*costs_)[w.warp->groups[lane_group].pc];
  if (!cost.is_folded()) return false;
  w.registers.defer(cost, Cycle(0), 0, answers);
  w.registers.pass_scoreboard(cost);
  Exec x = of(w);
  x.group = lane_group;
  run_warp(x, 1);
  return true;
}

uint32_t Execution::guarded(const Exec& x, Pc pc, uint32_t mask) const {
  const MicroOp& op = context_->program.code[pc];
  if (op.guard < 0) return mask;
  const uint32_t g = *reinterpret_cast<const uint32_t*>(x.registers + op.guard);
  return mask & (op.guard_negated ? ~g : g);
}

void Execution::take_addresses(Exec& x, Pc pc, uint32_t mask) {
  const InstructionCost& cost = (*costs_)[pc];
  mask = guarded(x, pc, mask) & cost.lanes;
  if (cost.address < 0) mask = 0;  // malloc: no access that the clock knows
  access_.lanes = x.active = mask;
  if (mask != 0) x.addresses(op(pc).operands[cost.address], access_.addresses);
  access_.gathered = 0;
  if (cost.gather == sass::Gather::none || (mask & (mask - 1)) == 0) return;
  access_.gathered = cost.gathering;
  access_.lanes = mask & (0 - mask);
}

const LaneAddresses& Execution::run(Warp& w, Exec& x) {
  const LaneGroup& group = w.warp->groups[x.group];
  const Pc pc = group.pc;
  const uint32_t mask = group.mask;
  if (!w.stalls.empty() && x.wants<Stalled>()) {
    x.pc = pc;
    x.emit(Stalled{x.origin(mask), w.since + 1, w.stalls});
  }
  w.stalls.clear();
  access_.lanes = guarded(x, pc, mask);
  access_.gathered = 0;
  if ((*costs_)[pc].address >= 0) take_addresses(x, pc, mask);
  const bool beside = w.warp->groups.size() > 1;
  run_warp(x, 1);
  if (beside && !w.cluster->faulted) let_others_go(w, x.group);
  return access_;
}

// Lanes that spin leave the warp's other lanes their time.
void Execution::let_others_go(Warp& w, uint32_t lane_group) {
  constexpr uint32_t longest = 512;  // instructions in a row
  if (++w.in_a_row < longest) return;
  w.in_a_row = 0;
  auto& groups = w.warp->groups;
  if (lane_group < groups.size() && groups[lane_group].wait.kind == Wait::Kind::none)
    groups[lane_group].wait = {.kind = Wait::Kind::poll};
}

const LaneAddresses& Execution::run_at_boundary(Warp& w, uint32_t lane_group) {
  const LaneGroup& group = w.warp->groups[lane_group];
  Exec x = of(w);
  x.group = lane_group;
  take_addresses(x, group.pc, group.mask);
  x.at_boundary = true;
  run_warp(x, 1);
  return access_;
}

}  // namespace palladion::sim::hardware
