#include "sim/clock/group/group.h"

#include <algorithm>

namespace palladion::sim::hardware {

SmGroup::SmGroup(const RunContext& context, const InstructionCosts& costs,
                 const isa::ClockParameters& parameters, uint32_t first, uint32_t count, uint64_t l1_bytes)
    : context_(&context),
      costs_(&costs),
      p_(&parameters),
      execution_(context, costs),
      requests_(first),
      async_(parameters),
      wake_ups_(parameters) {
  const Sm::Shape shape{.sub_cores = static_cast<uint32_t>(context.program.arch->sub_cores),
                        .fence_interval = costs.fence_interval(),
                        .l1_bytes = l1_bytes,
                        .instructions = context.program.code.size()};
  sms_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) sms_.emplace_back(first + i, parameters, shape);
}

void SmGroup::share_network() {
  for (Sm& sm : sms_) sm.memory.network().share();
}

void SmGroup::start(ClusterState& cluster, Cycle time) {
  residents_.start(cluster, time, sms_, *costs_, context_->program.mma_warps(), events_);
  if (context_->program.arch->has_tcgen05())
    residents_.share_tensor_memory(static_cast<uint32_t>(sms_.size()));
}

Cycle SmGroup::next_event() const {
  Cycle next = events_.empty() ? never : events_.next().time;
  for (const StrongAccess& a : accesses) next = std::min(next, a.time);
  return next;
}

void SmGroup::run_until(Cycle end, std::vector<LineTime>& lines) {
  end_ = end;
  lines_ = lines.data();
  residents_.prefetch();
  while (events_.before(end)) {
    const Event e = events_.next();
    events_.pop();
    handle(e);
  }
}

void SmGroup::handle(const Event& e) {
  if (e.kind == Event::Kind::slot) return give_slot(e.index, static_cast<uint32_t>(e.id), e.time);
  if (e.kind == Event::Kind::warp) {
    if (residents_.warp(e.index).state == Warp::State::queued) consider(e.index, e.time);
    return;
  }
  const ClusterOfGroup number(e.index);
  ClusterState& c = cluster(number);
  if (c.faulted) return;
  c.now = e.time;
  if (e.kind == Event::Kind::land) return landed(number, e.id, e.time);
  const AsyncOp* op = find_pending(c, e.id);
  if (op == nullptr || op->stage != AsyncOp::Stage::issued) return;
  advance_operation(context_->run_of(c), e.id);
  wake(c, e.time, true);
}

// To the first of the waiting warps that can use it.
void SmGroup::give_slot(uint32_t sm, uint32_t sub_core, Cycle now) {
  IssueSlot& slot = sms_[sm].issue.slot(sub_core);
  slot.event_came();
  while (const auto index = slot.next(now)) {
    residents_.warp(*index).state = Warp::State::queued;
    consider(*index, now);
  }
  if (slot.needs_event()) events_.add(slot.opens(), Event::Kind::slot, sm, sub_core);
}

void SmGroup::wait_for_slot(Warp& w, Cycle now) {
  IssueSlot& slot = sm_of(w).issue.slot(w.sub_core);
  w.hold(Stall::not_selected, now);
  w.state = Warp::State::slot;
  slot.wait(w.index);
  if (slot.needs_event()) events_.add(slot.opens(), Event::Kind::slot, w.sm, w.sub_core);
}

void SmGroup::wake(ClusterState& cluster, Cycle now, bool by_copy) {
  wake_ups_.wake(residents_.warps(), cluster, now, by_copy, events_);
}

bool SmGroup::time_out(ClusterState& cluster, Cycle time, bool again) {
  if (!time_out_waits(cluster, again)) return false;
  wake(cluster, time, true);
  return true;
}

// The cluster has ended, or cannot go on: its warps leave.
void SmGroup::retire(ClusterOfGroup cluster, Cycle now) {
  if (std::ranges::find(finished, cluster, &Finished::cluster) == finished.end())
    finished.push_back({now, cluster});
}

void SmGroup::remove(const ClusterState& cluster) {
  wake_ups_.forget(ClusterOfGroup(residents_.remove(cluster)));
  for (Sm& sm : sms_) sm.memory.end_loops();
  if (context_->program.arch->has_tcgen05()) freed_tensor_memory(end_);
}

void SmGroup::freed_tensor_memory(Cycle now) {
  residents_.share_tensor_memory(static_cast<uint32_t>(sms_.size()));
  for (ClusterState* c : residents_.clusters())
    if (c != nullptr) wake(*c, now, false);
}

// Its last byte is there; it lands when those before it have.
void SmGroup::landed(ClusterOfGroup number, uint64_t id, Cycle now) {
  ClusterState& c = cluster(number);
  const AsyncOp* op = find_pending(c, id);
  if (op == nullptr) return;
  const ClusterRun run = context_->run_of(c);
  if (op->stage == AsyncOp::Stage::issued && !advance_operation(run, id))
    return events_.add(now + 1, Event::Kind::land, number, id);
  if (c.faulted) return retire(number, now);
  if (op->lands_at_boundary()) {
    landings.push_back({now, number, id});
    return;
  }
  if (!advance_operation(run, id)) return events_.add(now + 1, Event::Kind::land, number, id);
  settle(number, now);
}

void SmGroup::land(const Landing& landing) {
  ClusterState& c = cluster(landing.cluster);
  if (c.faulted || !is_pending(c, landing.id)) return;
  ClusterRun run = context_->run_of(c);
  run.at_boundary = true;
  c.now = landing.time;
  advance_operation(run, landing.id);
  settle(landing.cluster, landing.time);
}

// After an operation has landed.
void SmGroup::settle(ClusterOfGroup number, Cycle now) {
  ClusterState& c = cluster(number);
  if (c.faulted) return retire(number, now);
  if (!arrivals_.empty()) try_arrivals(now);
  wake(c, now, true);
  if (c.finished()) retire(number, now);
}

void SmGroup::try_arrivals(Cycle now) {
  for (size_t i = 0; i < arrivals_.size();) {
    const auto [number, id] = arrivals_[i];
    const AsyncOp* op = find_pending(cluster(number), id);
    if (op != nullptr && !op->ready(context_->run_of(cluster(number)))) {
      ++i;
      continue;
    }
    arrivals_.erase(arrivals_.begin() + static_cast<std::ptrdiff_t>(i));
    if (op != nullptr) events_.add(now, Event::Kind::land, number, id);
  }
}

// A strong access of GMEM goes to L2; it is performed here, in the order of its time over all groups.
void SmGroup::perform(const StrongAccess& strong) {
  Warp& w = residents_.warp(strong.warp);
  if (w.cluster == nullptr || w.cluster->faulted) return;
  auto& groups = w.warp->groups;
  const auto g = std::ranges::find_if(
      groups, [](const LaneGroup& l) { return l.wait.kind == Wait::Kind::quantum_boundary; });
  if (g == groups.end()) return;
  const InstructionCost& cost = (*costs_)[g->pc];
  w.cluster->now = strong.time;
  const LaneAddresses& access = execution_.run_at_boundary(w, static_cast<uint32_t>(g - groups.begin()));
  if (w.cluster->faulted) return retire(w.cluster_number, strong.time);
  w.state = Warp::State::queued;
  w.next = strong.issued + cost.slots + access.gathered;
  events_.add(w.next, Event::Kind::warp, w.index);
  if (access.empty()) return;
  Sm& sm = sm_of(w);
  sm.memory.strong(sm.memory_instruction(w, cost, access, strong.issued), requests_);
}

void SmGroup::answer() {
  for (Sm& sm : sms_) sm.memory.answered(requests_.batch);
  Answers& answers = requests_.answers;
  answers.serve(requests_.batch);
  const auto pending = answers.pending();
  for (uint32_t i = 0; i < pending.size(); ++i)
    if (const Pending& copy = pending[i]; copy.cluster != no_cluster)
      events_.add(async_.landed(copy, answers.time(i), sms_), Event::Kind::land, copy.cluster, copy.id);
  for (const Pending& waiting : pending)
    if (waiting.cluster == no_cluster && residents_.warp(waiting.warp).registers.is_unanswered())
      residents_.warp(waiting.warp).registers.resolve(answers);
  for (const Write& write : requests_.writes) written(write);
  for (const uint32_t index : parked_) {
    Warp& w = residents_.warp(index);
    if (w.state != Warp::State::memory) continue;
    w.state = Warp::State::queued;
    events_.add(w.next, Event::Kind::warp, index);
  }
  parked_.clear();
  requests_.clear();
}

// Stores that are far behind hold up the unit that sent them, reductions when too many wait; a store is done
// when L2 has taken it, which is half of a round trip before the SM could know.
void SmGroup::written(const Write& write) {
  const Request& r = requests_.batch.requests[write.request];
  const Cycle taken = Cycle(r.done - std::min(r.done, cycle_of(p_->l2_latency)));
  const Cycles behind = time_of(taken) - p_->l2_latency;
  Sm& sm = sms_[write.sm];
  drained_ = std::max(drained_, r.done);
  sm.memory.fences().stored(r.done);
  if (write.cluster == no_cluster) return sm.memory.written(r, behind);
  sm.tma.hold_stores(behind);
  events_.add(std::max(write.not_before, taken), Event::Kind::land, write.cluster, write.id);
}

}  // namespace palladion::sim::hardware
