// Which instruction issues next, and what it sets going.
#include <algorithm>

#include "sim/clock/group/group.h"

namespace palladion::sim::hardware {

// False while L2 has not answered; else `at` is moved to when the instruction has its operands.
bool SmGroup::operands_ready(Warp& w, const InstructionCost& cost, Cycle& at) {
  Stall why = w.why;
  const Cycle own = w.next;
  if (!w.registers.drained(w.next, why)) return false;
  if (w.next > own) w.hold(why, own);
  at = std::max(at, w.next);
  if (cost.defers || sm_of(w).issue.runs_on(w, cost)) return true;
  const Cycle ready = w.registers.ready(cost, at, why);
  if (ready > at) w.hold(why, at);
  at = ready;
  return at != never;
}

// Whether a fence has to be done before, see MemoryPipe::release.
bool SmGroup::fences_first(Warp& w, const InstructionCost& cost, const LaneGroup& group, Cycle& at) {
  if (cost.release == 0 || w.fenced) return false;
  if (w.fence_end == 0 && execution_.guarded(execution_.of(w), group.pc, group.mask) == 0) return false;
  return sm_of(w).memory.release(w, cost.release, at);
}

// Else `at` is when to look again.
bool SmGroup::may_issue(Warp& w, const InstructionCost& cost, const LaneGroup& group, Cycle& at, Cycle now) {
  if (fences_first(w, cost, group, at)) return false;
  if (const Opening o = sm_of(w).opens(w, cost, at); o.free > at) {
    w.hold(o.why, at);
    at = o.free;
  }
  return at <= now || (at < end_ && (events_.empty() || events_.next().time > at));
}

void SmGroup::consider(uint32_t index, Cycle now) {
  Warp& w = residents_.warp(index);
  for (;;) {
    if (w.cluster->faulted) return retire(w.cluster_number, now);
    if (w.warp->finished()) {
      w.state = Warp::State::done;
      return;
    }
    const auto& groups = w.warp->groups;
    const int chosen =
        groups.size() == 1 && runnable(groups[0].wait) ? 0 : choose_group(*w.cluster, *w.cta, *w.warp, true);
    if (chosen < 0) {
      w.state = Warp::State::blocked;
      return;
    }
    const auto g = static_cast<uint32_t>(chosen);
    w.cluster->now = now;
    if (execution_.pass_folded(w, g, requests_.answers)) continue;
    const InstructionCost& cost = (*costs_)[groups[g].pc];
    if (cost.drains) w.registers.drain();
    Cycle at = now;
    if (!operands_ready(w, cost, at)) {
      w.state = Warp::State::memory;
      return parked_.push_back(index);
    }
    if (!may_issue(w, cost, groups[g], at, now)) return events_.add_waiting(at, w.since, index);
    now = at;
    if (sm_of(w).issue.slot(w.sub_core).opens() > now) return wait_for_slot(w, now);
    issue(w, g, now);
    if (w.state != Warp::State::queued) return;
    if (w.next >= end_ || events_.before(w.next)) return events_.add(w.next, Event::Kind::warp, index);
    now = w.next;
  }
}

void SmGroup::issue(Warp& w, uint32_t lane_group, Cycle now) {
  const LaneGroup& before = w.warp->groups[lane_group];
  const Issuing i{.warp = w,
                  .cost = (*costs_)[before.pc],
                  .pc = before.pc,
                  .lane_group = lane_group,
                  .now = now,
                  .resumed = !runnable(before.wait) && before.wait.kind != Wait::Kind::convergence,
                  .async = w.cluster->next_async,
                  .progress = w.cluster->progress};
  Sm& sm = sm_of(w);
  w.charge(lines_[i.pc], now);
  Exec x = execution_.of(w);
  x.group = lane_group;
  const LaneAddresses& access = execution_.run(w, x);
  const Cycles fetching = i.resumed ? 0 : sm.issue.fetch(i.pc, i.cost.slots);
  const Cycle start = i.resumed ? now : sm.take(w, i.cost, now);
  if (IssueSlot& slot = sm.issue.slot(w.sub_core); slot.needs_event())
    events_.add(std::max(slot.opens(), now + 1), Event::Kind::slot, w.sm, w.sub_core);
  w.issue(i.cost, now, access.gathered, fetching);
  if (w.cluster->faulted) return retire(w.cluster_number, now);
  w.fenced = false;
  if (blocks(i, x.group < w.warp->groups.size() ? &w.warp->groups[x.group] : nullptr)) return;
  after(i, access, start);
  if (w.cluster->progress != i.progress && (i.cost.path == Path::waits || i.cost.path == Path::exit))
    wake(*w.cluster, now, false);
  if (i.cost.path == Path::exit && w.cluster->finished()) retire(w.cluster_number, now + i.cost.latency);
}

// Whether the lanes that have executed it wait now; else they may have gone elsewhere.
bool SmGroup::blocks(const Issuing& i, LaneGroup* group) {
  Warp& w = i.warp;
  const bool blocked = group != nullptr && !runnable(group->wait);
  if (blocked && group->wait.kind == Wait::Kind::quantum_boundary) {
    accesses.push_back({sm_of(w).memory.visible(i.cost, i.now), i.now, w.index});
    w.state = Warp::State::boundary;
    return true;
  }
  if (group != nullptr && !blocked && group->pc != i.pc + 1 && group->pc != i.pc)
    sm_of(w).issue.branch(w, i.cost, i.pc, group->pc);
  if (i.cost.branches && !i.cost.unrolled && !i.cost.spins) w.block = w.next;
  if (!blocked) return false;
  w.hold(stall_of(group->wait.kind), w.next);
  if (w.cluster->progress != i.progress) wake(*w.cluster, i.now, false);
  return true;
}

// What the instruction has set going.
void SmGroup::after(const Issuing& i, const LaneAddresses& access, Cycle start) {
  WarpRegisters& registers = i.warp.registers;
  registers.pass_scoreboard(i.cost);
  if (i.cost.defers)
    registers.defer(i.cost, i.cost.early ? i.warp.block : start, i.cost.latency, requests_.answers);
  else  // a warp that has slept goes on with its branch at once
    registers.set_ready(i.cost, i.resumed ? Cycle() : i.now + i.cost.latency);
  if (i.cost.acquires && i.cost.path != Path::global_load && i.cost.path != Path::global_atomic)
    sm_of(i.warp).memory.acquire();
  switch (i.cost.path) {
    case Path::shared_load:
    case Path::shared_store:
    case Path::cluster_load:
    case Path::cluster_store:
    case Path::global_load:
    case Path::global_store:
      return access_memory(i, access);
    case Path::async:
      return start_operations(i, access);
    case Path::fence:
    case Path::waits:
      return synchronise(i, access);
    default:
      return;
  }
}

void SmGroup::access_memory(const Issuing& i, const LaneAddresses& access) {
  if (access.empty()) return;
  Sm& sm = sm_of(i.warp);
  const MemoryInstruction m = sm.memory_instruction(i.warp, i.cost, access, i.now);
  if (i.cost.path == Path::shared_load || i.cost.path == Path::shared_store)
    sm.memory.shared(m);
  else if (i.cost.path == Path::global_load || i.cost.path == Path::global_store)
    sm.memory.global(m, requests_);
  else
    sm.memory.cluster(m, sms_[rank_at(access.first())].memory);
}

void SmGroup::synchronise(const Issuing& i, const LaneAddresses& access) {
  Warp& w = i.warp;
  MemoryPipe& memory = sm_of(w).memory;
  if (i.cost.path == Path::fence) {
    if (!access.empty())
      w.wait_until(Stall::membar, memory.fence(w, std::max(i.cost.slots, i.cost.latency), i.now));
    return;
  }
  if (i.cost.holds) w.arrive_free = i.now + whole_cycles(i.cost.interval);
  if (i.cost.holds && i.cost.address >= 0 && !access.empty()) {
    const SharedAddress mbarrier(access.first());
    if (const auto time = memory.arrive(w, mbarrier, i.now))
      wake_ups_.arrives(w.cluster_number, mbarrier, *time);
  }
  meet(i);
}

// Barriers, mbarriers and setmaxnreg: what holds up the warp itself.
void SmGroup::meet(const Issuing& i) {
  Warp& w = i.warp;
  const MicroOp& op = execution_.op(i.pc);
  if (const auto* b = std::get_if<isa::CtaBarrier>(op.effect);
      b != nullptr && b->action != isa::BarrierAction::arrive && !i.resumed) {
    Exec x = execution_.of(w);
    x.active = ~0U;
    wake_ups_.pass_barrier(w, b->id < 0 ? 0 : x.uniform_value(op.operands[b->id]), i.now);
  }
  if (const auto* r = std::get_if<isa::SetMaxRegisters>(op.effect))
    w.next = i.now + whole_cycles(r->increase ? p_->register_increase : i.cost.latency);
  if (std::holds_alternative<isa::TensorMemoryAllocation>(*op.effect)) freed_tensor_memory(i.now);
  if (i.resumed) return;
  if (const auto* b = std::get_if<isa::ClusterBarrier>(op.effect); b != nullptr && b->arrive)
    w.arrived = i.now;
  else if (b != nullptr)
    wake_ups_.pass_cluster_barrier(w);
  const auto* m = std::get_if<isa::Mbarrier>(op.effect);
  if (m != nullptr && m->action == isa::MbarrierAction::try_wait && wake_ups_.expects_arrivals())
    wake_ups_.pass_mbarrier(w, execution_.of(w).address_of_lane(op.operands[m->address], 0), i.now);
}

// Copies and matrix products.
void SmGroup::start_operations(const Issuing& i, const LaneAddresses& access) {
  Warp& w = i.warp;
  if (i.cost.columns != 0) {  // a wgmma, which four warps issue together
    const AsyncOp* op = find_pending(*w.cluster, w.warp->wgmma.back().id);
    if (op != nullptr && op->ready(context_->run_of(*w.cluster)))
      start_operation(w, *op, op->traffic(), i.now);
    return;
  }
  async_.begin();
  for (uint64_t id = i.async; id < w.cluster->next_async; ++id) {
    const AsyncOp* op = find_pending(*w.cluster, id);
    if (op == nullptr) continue;
    const Traffic t = op->traffic();
    if (t.family == isa::AsyncFamily::deferred_arrival || t.family == isa::AsyncFamily::tcgen05_commit) {
      arrivals_.push_back({w.cluster_number, id});
      try_arrivals(i.now);
    } else if (t.family != isa::AsyncFamily::remote_store) {
      start_operation(w, *op, t, i.now);
    } else if (!access.empty()) {
      Sm& sm = sm_of(w);
      MemoryPipe& peer = sms_[rank_at(access.first())].memory;
      const Cycle lands = sm.memory.store_async(sm.memory_instruction(w, i.cost, access, i.now), peer);
      events_.add(lands, Event::Kind::land, w.cluster_number, id);
    }
  }
}

void SmGroup::start_operation(Warp& w, const AsyncOp& op, const Traffic& t, Cycle now) {
  const AsyncEngine::Started s = async_.start(w, op.id, t, now, sms_, requests_);
  if (s.work) context_->run_of(*w.cluster).emit(*s.work);
  if (s.read != never) events_.add(s.read, Event::Kind::read, w.cluster_number, op.id);
  if (s.land != never) events_.add(s.land, Event::Kind::land, w.cluster_number, op.id);
}

}  // namespace palladion::sim::hardware
