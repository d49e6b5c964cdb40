#include "sim/clock/group/group.h"

#include <algorithm>

namespace palladion::sim::hardware {
SmGroup::SmGroup(const RunContext& context, const InstructionCosts& costs,
                 const isa::ClockParameters& parameters, uint32_t first, uint32_t count, uint64_t l1_bytes)
    : context_(&context),
      costs_(&costs),
      p_(&parameters),
      waits_(parameters),
      sub_cores_per_sm_(static_cast<uint32_t>(context.program.arch->sub_cores)),
      sub_cores_(size_t{count} * sub_cores_per_sm_, SubCore(parameters)) {
  sms_.reserve(count);
  for (uint32_t i = 0; i < count; ++i)
    sms_.emplace_back(first + i, parameters, costs.fence_interval(), l1_bytes, context.program.code.size());
}

void SmGroup::crowd() {
  for (Sm& sm : sms_) sm.network.crowd();
}

uint32_t SmGroup::add(ClusterState& cluster) {
  const auto free = std::ranges::find(clusters_, static_cast<ClusterState*>(nullptr));
  const auto number = static_cast<uint32_t>(free - clusters_.begin());
  if (free == clusters_.end()) clusters_.emplace_back();
  clusters_[number] = &cluster;
  return number;
}

uint32_t SmGroup::free_warp() {
  if (free_warps_.empty()) {
    warps_.emplace_back();
    return static_cast<uint32_t>(warps_.size() - 1);
  }
  const uint32_t index = free_warps_.back();
  free_warps_.pop_back();
  return index;
}

void SmGroup::start(ClusterState& cluster, uint64_t time) {
  const uint32_t number = add(cluster);
  for (CtaState& cta : cluster.ctas) {
    Sm& unit = sms_[cta.rank];
    for (WarpState& warp : cta.warps) {
      const uint32_t index = free_warp();
      Warp& w = warps_[index];
      WarpRegisters registers = std::move(w.registers);  // with the room that it has
      registers.reset(*costs_, index, time);
      std::vector<StallPart> stalls = std::move(w.stalls);
      stalls.clear();
      w = {.cluster_number = number,
           .sm = cta.rank,
           .id = warp.id,
           .cluster = &cluster,
           .cta = &cta,
           .warp = &warp,
           .sub_core = cta.rank * sub_cores_per_sm_ + (unit.next_sub + warp.id) % sub_cores_per_sm_,
           .state = Warp::State::queued,
           .next = time,
           .since = time,
           .stalls = std::move(stalls),
           .block = time,
           .registers = std::move(registers),
           .arrived = time};
      events_.add(time, Event::Kind::warp, index);
    }
    unit.next_sub = (unit.next_sub + static_cast<uint32_t>(cta.warps.size())) % sub_cores_per_sm_;
  }
  if (context_->program.arch->has_tcgen05()) share_tensor_memory();
}

uint64_t SmGroup::next_event() const {
  uint64_t next = events_.empty() ? never : events_.next().time;
  for (const StrongAccess& a : accesses) next = std::min(next, a.time);
  return next;
}

// The host's caches have forgotten the group since its last quantum. Each warp's state lies behind pointers
// that depend on each other: those of all warps are followed at once.
void SmGroup::prefetch() const {
  for (const Warp& w : warps_)
    if (w.state != Warp::State::done) __builtin_prefetch(w.warp);
  for (const Warp& w : warps_)
    if (w.state != Warp::State::done) __builtin_prefetch(w.warp->groups.data());
}

void SmGroup::run_until(uint64_t end, std::vector<LineTime>& lines) {
  end_ = end;
  lines_ = lines.data();
  prefetch();
  while (events_.before(end)) {
    const Event e = events_.next();
    events_.pop();
    handle(e);
  }
}

void SmGroup::handle(const Event& e) {
  if (e.kind == Event::Kind::slot) return give_slot(e.index, e.time);
  if (e.kind == Event::Kind::warp) {
    if (warps_[e.index].state == Warp::State::queued) consider(e.index, e.time);
    return;
  }
  ClusterState& c = cluster(e.index);
  if (c.faulted) return;
  c.now = e.time;
  if (e.kind == Event::Kind::land) return landed(e.index, e.id, e.time);
  const AsyncOp* op = find_pending(c, e.id);
  if (op == nullptr || op->stage != AsyncOp::Stage::issued) return;
  advance_operation(context_->run_of(c), e.id);
  wake(c, e.time, true);
}

// To the first of the waiting warps that can use it.
void SmGroup::give_slot(uint32_t sub_core, uint64_t now) {
  IssueSlot& slot = sub_cores_[sub_core].slot;
  slot.event_came();
  while (const auto index = slot.next(now)) {
    warps_[*index].state = Warp::State::queued;
    consider(*index, now);
  }
  if (slot.needs_event()) events_.add(slot.opens(), Event::Kind::slot, sub_core);
}

void SmGroup::wait_for_slot(Warp& w, uint32_t index, uint64_t now) {
  IssueSlot& slot = sub_core_of(w).slot;
  w.hold(Stall::not_selected, now);
  w.state = Warp::State::slot;
  slot.wait(index);
  if (slot.needs_event()) events_.add(slot.opens(), Event::Kind::slot, w.sub_core);
}

// Its number in the grid.
uint64_t SmGroup::warpgroup_of(const Warp& w) const {
  return (w.cluster->index * w.cluster->ctas.size() + w.cta->rank) * w.cta->warps.size() +
         w.id / context_->program.mma_warps();
}

Exec SmGroup::exec(Warp& w) const {
  Exec x(context_->run_of(*w.cluster));
  x.cta = w.cta;
  x.warp = w.warp;
  x.watch = context_->watch;
  x.registers = w.warp->registers.data();
  return x;
}

// What ptxas folds into other instructions: done at once, its result is there when its sources are.
bool SmGroup::pass_free(Warp& w, uint32_t pc, int lane_group) {
  const InstructionCost& cost = (*costs_)[pc];
  if (!cost.is_folded()) return false;
  w.registers.defer(cost, 0, 0, answers_);
  w.registers.pass_scoreboard(cost);
  Exec x = exec(w);
  x.group = static_cast<uint32_t>(lane_group);
  run_warp(x, 1);
  return true;
}

// Until L2 has answered.
void SmGroup::park(Warp& w, uint32_t index) {
  w.state = Warp::State::memory;
  parked_.push_back(index);
}

// False while L2 has not answered; else `at` is moved to when the instruction has its operands.
bool SmGroup::operands_ready(Warp& w, const InstructionCost& cost, uint64_t& at) const {
  Stall why = w.why;
  const uint64_t own = w.next;
  if (!w.registers.drained(w.next, why)) return false;
  if (w.next > own) w.hold(why, own);
  at = std::max(at, w.next);
  if (cost.defers || runs_on(w, cost)) return true;
  const uint64_t ready = w.registers.ready(cost, at, why);
  if (ready > at) w.hold(why, at);
  at = ready;
  return at != never;
}

void SmGroup::consider(uint32_t index, uint64_t now) {
  Warp& w = warps_[index];
  for (;;) {
    if (w.cluster->faulted) return retire(w.cluster_number, now);
    if (w.warp->finished()) {
      w.state = Warp::State::done;
      return;
    }
    const auto& groups = w.warp->groups;
    const int g =
        groups.size() == 1 && runnable(groups[0].wait) ? 0 : choose_group(*w.cluster, *w.cta, *w.warp, true);
    if (g < 0) {
      w.state = Warp::State::blocked;
      return;
    }
    const uint32_t pc = groups[static_cast<size_t>(g)].pc;
    w.cluster->now = now;
    if (pass_free(w, pc, g)) continue;
    const InstructionCost& cost = (*costs_)[pc];
    if (cost.drains) w.registers.drain();
    uint64_t at = now;
    if (!operands_ready(w, cost, at)) return park(w, index);
    const bool again = cost.release != 0 && release(w, cost, pc, groups[static_cast<size_t>(g)].mask, at);
    if (again || !unit_opens(w, cost, at, now)) return events_.add_waiting(at, w.since, index);
    now = at;
    if (sub_core_of(w).slot.opens() > now) return wait_for_slot(w, index, now);
    issue(w, index, g, pc, now);
    if (w.state != Warp::State::queued) return;
    if (w.next >= end_ || events_.before(w.next)) return events_.add(w.next, Event::Kind::warp, index);
    now = w.next;
  }
}

// Blocked warps whose wait is over go on, each after the time that the news needs.
void SmGroup::wake(ClusterState& cluster, uint64_t now, bool by_copy) {
  for (uint32_t index = 0; index < warps_.size(); ++index) {
    Warp& w = warps_[index];
    if (w.state != Warp::State::blocked || w.cluster != &cluster || w.warp->finished()) continue;
    const int g = choose_group(cluster, *w.cta, *w.warp, true);
    if (g < 0) continue;
    w.next = std::max(w.next, now + delay(w, w.warp->groups[static_cast<size_t>(g)].wait, now, by_copy));
    w.state = Warp::State::queued;
    events_.add(w.next, Event::Kind::warp, index);
  }
}

uint64_t SmGroup::delay(const Warp& w, const Wait& wait, uint64_t now, bool by_copy) const {
  switch (wait.kind) {
    case Wait::Kind::cta_barrier:
      return waits_.barrier(w.cta->barriers[wait.object].last_arrived);
    case Wait::Kind::cluster_barrier:
      return waits_.cluster_barrier(w.cluster->ctas.size(), w.id);
    case Wait::Kind::mbarrier:
      return std::max(waits_.wake(wait.kind, by_copy), remote_delay(w, wait.object, now));
    default:
      return waits_.wake(wait.kind, by_copy);
  }
}

bool SmGroup::time_out(ClusterState& cluster, uint64_t time, bool again) {
  if (!time_out_waits(cluster, again)) return false;
  wake(cluster, time, true);
  return true;
}

// The cluster has ended, or cannot go on: its warps leave.
void SmGroup::retire(uint32_t cluster, uint64_t now) {
  if (std::ranges::find(finished, cluster, &Finished::cluster) == finished.end())
    finished.push_back({now, cluster});
}

void SmGroup::remove(const ClusterState& cluster) {
  const auto member = std::ranges::find(clusters_, &cluster);
  const auto number = static_cast<uint32_t>(member - clusters_.begin());
  *member = nullptr;
  remote_arrivals_.remove(number);
  for (Sm& sm : sms_) sm.cas_loops.clear();
  for (uint32_t index = 0; index < warps_.size(); ++index) {
    Warp& w = warps_[index];
    if (w.cluster_number != number) continue;
    w.state = Warp::State::done;
    w.cluster_number = no_cluster;
    w.cluster = nullptr;
    free_warps_.push_back(index);
  }
  if (context_->program.arch->has_tcgen05()) freed_tensor_memory(end_);
}

// The resident CTAs of an SM share its tensor memory.
void SmGroup::share_tensor_memory() {
  for (uint32_t rank = 0; rank < sms_.size(); ++rank) {
    for (ClusterState* c : clusters_) {
      if (c == nullptr) continue;
      uint32_t others = 0;
      for (const ClusterState* other : clusters_)
        if (other != nullptr && other != c) others |= other->ctas[rank].tensor.own();
      c->ctas[rank].tensor.elsewhere = static_cast<uint16_t>(others);
    }
  }
}

void SmGroup::freed_tensor_memory(uint64_t now) {
  share_tensor_memory();
  for (ClusterState* c : clusters_)
    if (c != nullptr) wake(*c, now, false);
}

void SmGroup::rebind() {
  for (Warp& w : warps_) {
    if (w.cluster == nullptr) continue;
    w.cta = &w.cluster->ctas[w.sm];
    w.warp = &w.cta->warps[w.id];
  }
}

}  // namespace palladion::sim::hardware
