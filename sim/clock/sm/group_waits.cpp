// Barriers and waits: who goes on when, and how a cluster leaves.
#include <algorithm>

#include "sim/clock/sm/group.h"

namespace palladion::sim::hardware {

// The last to arrive at a barrier goes on when the others do.
void SmGroup::meet(Warp& w, uint32_t pc, bool resumed, uint64_t now) {
  const MicroOp& op = context_.program.code[pc];
  if (const auto* b = std::get_if<isa::CtaBarrier>(op.effect);
      b != nullptr && b->action != isa::BarrierAction::arrive && !resumed) {
    Exec x = exec(w);
    x.active = ~0U;
    const uint64_t id = b->id < 0 ? 0 : x.uniform_value(op.operands[b->id]);
    w.next = now + barrier_delay(w.cta->barriers[id]);
    w.why = Stall::barrier;
  }
  if (const auto* r = std::get_if<isa::SetMaxRegisters>(op.effect)) {
    const double takes = r->increase ? p_.register_increase : prices_[pc].latency;
    w.next = now + static_cast<uint64_t>(takes);
  }
  if (resumed) return;
  if (const auto* b = std::get_if<isa::ClusterBarrier>(op.effect); b != nullptr && b->arrive)
    w.arrived = now;
  else if (b != nullptr)
    w.next = std::max(w.next, w.arrived + cluster_barrier_delay(w)), w.why = Stall::cluster_barrier;
  const auto* m = std::get_if<isa::Mbarrier>(op.effect);
  if (m != nullptr && m->action == isa::MbarrierAction::try_wait && !remote_arrivals_.empty()) {
    const uint64_t mbarrier = exec(w).address_of_lane(op.operands[m->address], 0);
    w.next = std::max(w.next, now + remote_delay(w, mbarrier, now));
    w.why = Stall::mbarrier;
  }
}

// From the last arrival until a warp goes on: longer the more warps take part.
uint64_t SmGroup::barrier_delay(const NamedBarrier& barrier) const {
  const auto warps = (barrier.last_arrived + 31) / 32;
  return static_cast<uint64_t>(p_.barrier_latency + p_.barrier_per_warp * warps);
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
    push(w.next, Event::Kind::warp, index);
  }
}

uint64_t SmGroup::delay(const Warp& w, const Wait& wait, uint64_t now, bool by_copy) const {
  switch (wait.kind) {
    case Wait::Kind::mbarrier:
      return std::max(static_cast<uint64_t>(by_copy ? p_.mbarrier_wake_tx : p_.mbarrier_wake),
                      remote_delay(w, wait.object, now));
    case Wait::Kind::cta_barrier:
      return barrier_delay(w.cta->barriers[wait.object]);
    case Wait::Kind::cluster_barrier:
      return cluster_barrier_delay(w);
    case Wait::Kind::bulk_group:
    case Wait::Kind::cp_async_group:
      return static_cast<uint64_t>(p_.async_group_wake);
    default:
      return 1;
  }
}

bool SmGroup::time_out(ClusterState& cluster, uint64_t time, bool again) {
  if (!time_out_waits(cluster, again)) return false;
  wake(cluster, time, true);
  return true;
}

// The cluster has ended, or cannot go on: its warps leave.
void SmGroup::retire(ClusterState& cluster, uint64_t now) {
  if (std::ranges::any_of(finished, [&](const Finished& f) { return f.cluster == &cluster; })) return;
  finished.push_back({now, &cluster});
}

void SmGroup::remove(const ClusterState& cluster) {
  std::erase_if(remote_arrivals_, [&](const RemoteArrival& a) { return a.cluster == &cluster; });
  for (Sm& sm : sms_) sm.changed.clear();
  for (uint32_t index = 0; index < warps_.size(); ++index) {
    Warp& w = warps_[index];
    if (w.cluster != &cluster) continue;
    w.state = Warp::State::done;
    w.cluster = nullptr;
    free_warps_.push_back(index);
  }
}

AsyncOp* SmGroup::pending(ClusterState& cluster, uint64_t id) {
  const auto found = std::ranges::lower_bound(cluster.pending, id, {}, &AsyncOp::id);
  return found != cluster.pending.end() && found->id == id ? &*found : nullptr;
}

}  // namespace palladion::sim::hardware
