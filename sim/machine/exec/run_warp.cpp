// The inner loop: one lane group executes until it waits, splits, reaches another group or its slice ends.
#include <algorithm>

#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/join.h"
#include "sim/machine/exec/pairs.h"
#include "sim/machine/state/mbarrier.h"

namespace palladion::sim {
namespace {

// Where this group must stop so that others can join or catch up: the smallest pc of the other
// groups at the same call depth that could still run.
Pc meeting_point(const WarpState& warp, uint32_t self) {
  Pc at(isa::no_id);
  const LaneGroup& g = warp.groups[self];
  for (uint32_t i = 0; i < warp.groups.size(); ++i) {
    const LaneGroup& other = warp.groups[i];
    const bool joinable = other.wait.kind == Wait::Kind::none || other.wait.kind == Wait::Kind::convergence ||
                          other.wait.kind == Wait::Kind::poll;
    if (i == self || !joinable || other.calls.size() != g.calls.size() || other.pc <= g.pc) continue;
    at = std::min(at, other.pc);
  }
  return at;
}

void land_everything(const ClusterRun& run) {
  const ClusterState& cluster = run.cluster;
  bool moved = true;
  while (moved && !cluster.pending.empty()) {
    moved = false;
    for (size_t i = 0; i < cluster.pending.size() && !moved; ++i) moved = advance(run, i);
  }
}

}  // namespace

namespace {
// The first instruction of a group that waited for lanes which wait at another copy of it.
Step run_joined(Exec& x) {
  Join join(x);
  x.self().wait = {};
  x.active = join.lanes();
  const Step step = x.op_at(x.pc).handler(x, x.op_at(x.pc));
  if (step == Step::next) join.finish();
  return step;
}

// Ends the group's wait as run_warp begins; true when it must be joined with others.
bool leave_wait(Exec& x) {
  LaneGroup& g = x.self();
  x.pc = g.pc;
  const Wait::Kind kind = g.wait.kind;
  if (kind == Wait::Kind::none) return false;
  if (kind == Wait::Kind::convergence && (g.wait.object & x.warp->alive & ~g.mask) != 0) return true;
  g.resumed =
      kind != Wait::Kind::convergence && kind != Wait::Kind::quantum_boundary && kind != Wait::Kind::poll;
  g.wait = {};
  return false;
}

}  // namespace

WarpRun run_warp(Exec& x, uint32_t budget) {
  const uint64_t progress = x.cluster.progress;
  WarpRun run;
  x.registers = x.warp->registers.data();
  const bool joined = leave_wait(x);
  x.self().last_run = x.cluster.instructions;
  const uint32_t mask = x.self().mask;
  const uint32_t stop = x.warp->groups.size() > 1 ? meeting_point(*x.warp, x.group) : isa::no_id;
  const MicroOp* code = x.program.code.data();
  const uint8_t* const watch = x.watch;
  uint32_t n = 0;
  Step step = Step::next;
  if (joined) {
    n = 1;
    step = run_joined(x);
    if (step == Step::next) ++x.pc;
    budget = 1;  // the partners may continue with this group
  }
  while (n < budget) {
    const MicroOp& op = code[x.pc];
    ++n;
    uint32_t active = mask;
    const bool watched = watch != nullptr && watch[x.pc] != 0;
    if (op.guard >= 0) {
      if (watched) x.emit(Reached{x.origin(mask)});
      const uint32_t p = *reinterpret_cast<const uint32_t*>(x.registers + op.guard);
      active &= op.guard_negated ? ~p : p;
      if (active == 0) {
        if (++x.pc == stop) break;
        continue;
      }
    }
    x.active = active;
    if (watched) x.emit(Executing{x.origin()});
    step = op.handler(x, op);
    if (watched && step == Step::next) x.emit(Executed{x.origin(active)});
    if (x.land_at_issue && !x.cluster.pending.empty()) land_everything(x);
    if (step == Step::next) {
      ++x.pc;
    } else if (step != Step::jump) {
      break;
    }
    if (x.pc == stop) break;
  }
  run.executed = n;
  x.warp->instructions += n;
  x.cluster.instructions += n;
  const bool goes_on = step == Step::next || step == Step::jump;
  if (step == Step::yield) {
    ++x.pc;
    x.self().wait = {.kind = Wait::Kind::poll};
  } else if (goes_on && n >= budget && budget > 1 && x.warp->groups.size() > 1) {
    // Its slice is over: the warp's other lanes execute next, else a spin would starve those it waits for.
    x.self().wait = {.kind = Wait::Kind::poll};
  }
  if (step != Step::split) x.self().pc = x.pc;
  run.useful =
      x.cluster.progress != progress || goes_on || step == Step::split || (step == Step::block && n > 1);
  return run;
}

bool can_proceed(const ClusterState& cluster, const CtaState& cta, const WarpState& warp,
                 const LaneGroup& g) {
  switch (g.wait.kind) {
    case Wait::Kind::none:
    case Wait::Kind::poll:
      return true;
    case Wait::Kind::convergence:
      return (g.wait.object & warp.alive & ~joinable_lanes(warp, g)) == 0;
    case Wait::Kind::mbarrier: {
      const auto a = static_cast<uint32_t>(g.wait.object);
      uint64_t word;
      std::memcpy(&word, cluster.ctas[a >> cta_rank_shift].shared.data() + (a & shared_offset_mask), 8);
      const MbarrierState s = MbarrierState::decode(word);
      return !s.valid || s.parity != (g.wait.value != 0);
    }
    case Wait::Kind::cta_barrier:
      return cta.barriers[g.wait.object].generation > g.wait.value;
    case Wait::Kind::cluster_barrier:
      return cluster.barrier.generation > g.wait.value;
    case Wait::Kind::bulk_group:
      return journal_satisfied(warp.bulk, g.mask, g.wait.value, g.wait.read_only);
    case Wait::Kind::cp_async_group:
      return journal_satisfied(warp.cp_async, g.mask, g.wait.value, g.wait.read_only);
    case Wait::Kind::wgmma_group:
      return journal_satisfied(warp.wgmma, g.mask, g.wait.value, false);
    case Wait::Kind::registers:
      return cta.free_registers >= g.wait.object;
    case Wait::Kind::tensor_memory:
      return can_allocate(cluster, cta, g.wait.object, g.wait.value);
    case Wait::Kind::quantum_boundary:
      return false;
  }
  return false;
}

}  // namespace palladion::sim
