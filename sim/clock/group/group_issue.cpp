// An instruction issues: slots and pipes, branches, fences, what it sets going.
#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/clock/group/group.h"

namespace palladion::sim::hardware {
namespace {

// Instructions in a row of lanes that spin, before the warp's other lanes issue.
constexpr uint32_t longest_turn = 512;

// Instructions of a sequence that ptxas leaves to the uniform datapath; longer ones use the vector pipes.
constexpr uint32_t longest_uniform = 4;

}  // namespace

// An iteration of an unrolled loop that continues with the next one without a branch.
bool SmGroup::runs_on(const Warp& w, const InstructionCost& cost) const {
  return cost.unrolled && (w.iterations + 1) % std::max(1U, static_cast<uint32_t>(p_->branch_unrolled)) != 0;
}

// Whether the instruction may issue now; else `at` is when to look again.
bool SmGroup::unit_opens(Warp& w, const InstructionCost& cost, uint64_t& at, uint64_t now) {
  const Sm& unit = sm_of(w);
  uint64_t free = sub_core_of(w).pipes.opens(cost.occupies, cost.defers || computes(cost.occupies));
  Stall why = Stall::math_pipe_throttle;
  if (computes(cost.occupies) && cost.slots > longest_uniform)
    free = std::max(
        free, static_cast<uint64_t>(unit.tensor.sequences_open(warpgroup_of(w), static_cast<double>(at))));
  const auto later = [&](double opens, Stall reason) {
    if (opens > static_cast<double>(std::max(at, free))) free = static_cast<uint64_t>(opens), why = reason;
  };
  if (cost.unit == isa::Unit::lsu) {
    const bool shared = cost.path == Path::shared_load || cost.path == Path::shared_store;
    if (const double opens = unit.lsu.opens(static_cast<double>(at)); opens > 0)
      free = static_cast<uint64_t>(opens), why = shared ? Stall::mio_throttle : Stall::lg_throttle;
    if (cost.path == Path::cluster_store || cost.path == Path::cluster_load || cost.path == Path::async)
      later(unit.network.store_opens(), Stall::lg_throttle);
  }
  if (cost.holds) later(static_cast<double>(w.arrive_free), Stall::mio_throttle);
  if (cost.path == Path::async && cost.unit == isa::Unit::tensor) later(unit.tensor.opens(), Stall::gmma);
  if (cost.path == Path::async && cost.unit == isa::Unit::tma)
    later(std::floor(unit.tma.opens()), Stall::tma_throttle);
  if (free > at) w.hold(why, at), at = free;
  return at <= now || (at < end_ && (events_.empty() || events_.next().time > at));
}

// A release at cluster scope stands behind a fence: the instruction issues when that is done. Towards its end
// the fence waits for arrivals that other warps have sent out meanwhile. True: look again at `at`.
bool SmGroup::release(Warp& w, const InstructionCost& cost, uint32_t pc, uint32_t mask, uint64_t& at) {
  if (w.fenced) return false;
  if (w.fence_end != 0) {
    at = std::max(w.fence_end, sm_of(w).fences.last_arrival() + cost.release);
    w.fence_end = 0;
    w.fenced = true;
    return false;
  }
  Exec x = exec(w);
  if (!guarded(x, pc, mask)) return false;
  w.hold(Stall::membar, at);
  w.fence_end = fence(w, cost.release, std::max(at, w.arrive_free));
  at = w.fence_end - static_cast<uint64_t>(p_->dsm_fence_tail);
  return true;
}

// The stall is over: its cycles are the instruction's.
void SmGroup::charge(Warp& w, uint32_t pc, uint64_t now) {
  w.end_stall(now);
  LineTime& line = lines_[pc];
  line.warps |= 1U << w.id;
  ++line.issued;
  ++line.cycles[static_cast<size_t>(Stall::selected)];
  uint64_t from = w.since + 1;
  for (const StallPart& part : w.stalls) {
    line.cycles[static_cast<size_t>(part.reason)] += part.to - from;
    from = part.to;
  }
}

// The issue slot and the pipe are the instruction's; returns when the pipe takes it.
uint64_t SmGroup::occupy(Sm& unit, SubCore& s, const InstructionCost& cost, uint64_t now) {
  const auto time = static_cast<double>(now);
  s.slot.take(now, cost.slots);
  unit.book(Resource::issue, cost.slots);
  instructions_ += cost.slots;
  const bool shuffles = cost.unit == isa::Unit::lsu && cost.path == Path::plain;
  if (shuffles)  // through a path of the sub-core into the SM's load-store unit
    unit.lsu.take(time, cost.interval / sub_cores_per_sm_);
  if (!computes(cost.occupies) && cost.occupies != Resource::fp64 && cost.occupies != Resource::tensor &&
      !shuffles)
    return now;
  const double start = s.pipes.take(cost.occupies, time, cost.interval);
  if (cost.occupies == Resource::tensor && cost.path == Path::plain && cost.unit == isa::Unit::tensor)
    unit.book(cost.occupies, cost.interval / sub_cores_per_sm_);
  else if (!shuffles && cost.occupies != Resource::tensor)
    unit.book(cost.occupies, cost.interval);
  return static_cast<uint64_t>(std::ceil(start));
}

// In the machine, whose state it changes at once.
void SmGroup::execute(Warp& w, Exec& x, uint32_t pc, const InstructionCost& cost) {
  const uint32_t mask = w.warp->groups[x.group].mask;
  if (!w.stalls.empty() && x.wants<Stalled>()) {
    x.pc = pc;
    x.emit(Stalled{x.origin(mask), w.since + 1, w.stalls});
  }
  w.stalls.clear();
  access_.lanes = guarded(x, pc, mask);
  gathered_ = 0;
  if (cost.address >= 0) take_addresses(x, pc, mask);
  if (w.warp->groups.size() > 1 && ++w.turns >= longest_turn) {
    w.turns = 0;
    yield_after_ = true;
  }
  run_warp(x, 1);
}

// The lanes of `mask` that execute the instruction.
uint32_t SmGroup::guarded(const Exec& x, uint32_t pc, uint32_t mask) const {
  const MicroOp& op = context_->program.code[pc];
  if (op.guard < 0) return mask;
  const uint32_t g = *reinterpret_cast<const uint32_t*>(x.registers + op.guard);
  return mask & (op.guard_negated ? ~g : g);
}

void SmGroup::take_addresses(Exec& x, uint32_t pc, uint32_t mask) {
  const MicroOp& op = context_->program.code[pc];
  const InstructionCost& cost = (*costs_)[pc];
  mask = guarded(x, pc, mask) & cost.lanes;
  if (cost.address < 0) mask = 0;  // malloc: no access that the clock knows
  access_.lanes = x.active = mask;
  if (mask != 0) x.addresses(op.operands[cost.address], access_.addresses);
  gathered_ = 0;
  if (cost.gather == sass::Gather::none || (mask & (mask - 1)) == 0) return;
  gathered_ = cost.gathering;
  access_.lanes = mask & (0 - mask);
}

void SmGroup::issue(Warp& w, uint32_t index, int lane_group, uint32_t pc, uint64_t now) {
  const InstructionCost& cost = (*costs_)[pc];
  Sm& unit = sm_of(w);
  SubCore& s = sub_core_of(w);
  charge(w, pc, now);
  Exec x = exec(w);
  x.group = static_cast<uint32_t>(lane_group);
  const Wait& before = w.warp->groups[x.group].wait;
  const bool resumed = !runnable(before) && before.kind != Wait::Kind::convergence;
  const Since since{.time = now, .async = w.cluster->next_async, .progress = w.cluster->progress};
  execute(w, x, pc, cost);
  const double fetching = resumed ? 0 : unit.code.fetch(pc, cost.slots);
  const uint64_t start = resumed ? now : occupy(unit, s, cost, now);
  if (s.slot.needs_event()) events_.add(std::max(s.slot.opens(), now + 1), Event::Kind::slot, w.sub_core);
  w.since = now;
  w.why = Stall::wait;
  // The warp's next instruction issues after this one's sequence.
  w.busy = std::max(w.busy, static_cast<double>(now)) + cost.held + gathered_;
  const uint64_t issued = now + std::max(1U, cost.slots);
  if (fetching > 0) {
    w.hold(Stall::no_instruction, std::max(issued, static_cast<uint64_t>(w.busy)));
    w.busy += fetching;
  }
  w.next = std::max(issued, static_cast<uint64_t>(w.busy));
  if (w.cluster->faulted) return retire(w.cluster_number, now);
  w.fenced = false;
  LaneGroup* const group = x.group < w.warp->groups.size() ? &w.warp->groups[x.group] : nullptr;
  if (blocks(w, index, cost, pc, group, since)) return;
  after(w, cost, pc, resumed, since, start);
  if (w.cluster->progress != since.progress && (cost.path == Path::waits || cost.path == Path::exit))
    wake(*w.cluster, now, false);
  if (cost.path == Path::exit && w.cluster->finished()) retire(w.cluster_number, now + cost.latency);
}

// Whether the lanes that have executed it wait now; else they may have gone elsewhere.
bool SmGroup::blocks(Warp& w, uint32_t index, const InstructionCost& cost, uint32_t pc, LaneGroup* group,
                     const Since& since) {
  if (group != nullptr && yield_after_ && group->wait.kind == Wait::Kind::none)
    group->wait = {.kind = Wait::Kind::poll};
  yield_after_ = false;
  const bool blocked = group != nullptr && !runnable(group->wait);
  if (blocked && group->wait.kind == Wait::Kind::quantum_boundary) {
    accesses.push_back({seen(cost, since.time), since.time, index});
    w.state = Warp::State::boundary;
    return true;
  }
  if (group != nullptr && !blocked && group->pc != pc + 1 && group->pc != pc)
    take_branch(w, cost, pc, group->pc);
  if (cost.branches && !cost.unrolled && !cost.spins) w.block = w.next;
  if (!blocked) return false;
  w.hold(stall_of(group->wait.kind), w.next);
  if (w.cluster->progress != since.progress) wake(*w.cluster, since.time, false);
  return true;
}

// An iteration of a loop ends when its arithmetic has issued.
void SmGroup::take_branch(Warp& w, const InstructionCost& cost, uint32_t from, uint32_t to) const {
  constexpr uint32_t fetched_ahead = 32;  // instructions
  const bool back = to < from;
  const bool on = back && runs_on(w, cost);
  w.iterations += back && cost.unrolled;
  if (on) return;
  const double cycles = to > from + fetched_ahead ? p_->branch_forward : p_->branch_taken;
  w.wait_until(Stall::branch_resolving, w.next + static_cast<uint64_t>(cycles));
  if (back) w.registers.drain();
}

// When others see a strong access: loads and stores pass L2 alike, but the farthest of a store's ways counts;
// an atomic's result is there later.
uint64_t SmGroup::seen(const InstructionCost& cost, uint64_t now) const {
  if (cost.path == Path::global_load) return now;
  const double later = cost.path == Path::global_atomic ? p_->l2_atomic_latency - p_->l2_latency : 0;
  return now + static_cast<uint64_t>(std::max(0.0, later + 2 * p_->l2_spread));  // atomics may be free
}

// What the instruction has set going.
void SmGroup::after(Warp& w, const InstructionCost& cost, uint32_t pc, bool resumed, const Since& since,
                    uint64_t start) {
  const uint64_t now = since.time;
  w.registers.pass_scoreboard(cost);
  if (cost.defers)
    w.registers.defer(cost, cost.early ? w.block : start, cost.latency, answers_);
  else  // a warp that has slept goes on with its branch at once
    w.registers.set_ready(cost, resumed ? 0 : now + cost.latency);
  if (cost.acquires && cost.path != Path::global_load && cost.path != Path::global_atomic) sm_of(w).l1.drop();
  switch (cost.path) {
    case Path::shared_load:
    case Path::shared_store:
      return access_shared(w, cost, now);
    case Path::cluster_load:
    case Path::cluster_store:
      return access_cluster(w, cost, now);
    case Path::global_load:
    case Path::global_store:
      return access_global(w, cost, now);
    case Path::async:
      return issue_async(w, cost, now, since.async);
    case Path::fence:
      if (access_.empty()) return;
      return w.wait_until(Stall::membar, fence(w, std::max(cost.slots, cost.latency), now));
    case Path::waits:
      if (cost.holds) w.arrive_free = now + static_cast<uint64_t>(cost.interval);
      if (cost.holds && cost.address >= 0) arrive_remote(w, now);
      return meet(w, pc, resumed, now);
    default:
      return;
  }
}

// When a fence of the warp that begins now is done.
uint64_t SmGroup::fence(const Warp& w, uint32_t latency, uint64_t now) {
  Sm& unit = sm_of(w);
  return unit.fences.done(now, latency,
                          {.stores = w.last_store,
                           .async_stores = w.last_async,
                           .network = unit.network.done(),
                           .crowded = unit.network.is_crowded()});
}

// Barriers, mbarriers and setmaxnreg: what holds up the warp itself.
void SmGroup::meet(Warp& w, uint32_t pc, bool resumed, uint64_t now) {
  const MicroOp& op = context_->program.code[pc];
  if (const auto* b = std::get_if<isa::CtaBarrier>(op.effect);
      b != nullptr && b->action != isa::BarrierAction::arrive && !resumed) {
    Exec x = exec(w);
    x.active = ~0U;
    const uint64_t id = b->id < 0 ? 0 : x.uniform_value(op.operands[b->id]);
    w.wait_until(Stall::barrier, now + waits_.barrier(w.cta->barriers[id].last_arrived));
  }
  if (const auto* r = std::get_if<isa::SetMaxRegisters>(op.effect)) {
    const double takes = r->increase ? p_->register_increase : (*costs_)[pc].latency;
    w.next = now + static_cast<uint64_t>(takes);
  }
  if (std::holds_alternative<isa::TensorMemoryAllocation>(*op.effect)) freed_tensor_memory(now);
  if (resumed) return;
  if (const auto* b = std::get_if<isa::ClusterBarrier>(op.effect); b != nullptr && b->arrive)
    w.arrived = now;
  else if (b != nullptr) {
    const uint64_t met = w.arrived + waits_.cluster_barrier(w.cluster->ctas.size(), w.id);
    w.wait_until(Stall::cluster_barrier, std::max(w.next, met));
  }
  const auto* m = std::get_if<isa::Mbarrier>(op.effect);
  if (m != nullptr && m->action == isa::MbarrierAction::try_wait && !remote_arrivals_.empty()) {
    const uint64_t mbarrier = exec(w).address_of_lane(op.operands[m->address], 0);
    w.wait_until(Stall::mbarrier, std::max(w.next, now + remote_delay(w, mbarrier, now)));
  }
}

}  // namespace palladion::sim::hardware
