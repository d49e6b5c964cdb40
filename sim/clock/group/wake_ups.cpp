#include "sim/clock/group/wake_ups.h"

#include <algorithm>

#include "sim/schedule/cluster_runner.h"

namespace palladion::sim::hardware {

void WakeUps::wake(std::span<Warp> warps, ClusterState& cluster, Cycle now, bool by_copy,
                   Events& events) const {
  for (Warp& w : warps) {
    if (w.state != Warp::State::blocked || w.cluster != &cluster || w.warp->finished()) continue;
    const int g = choose_group(cluster, *w.cta, *w.warp, true);
    if (g < 0) continue;
    w.next = std::max(w.next, now + delay(w, w.warp->groups[static_cast<size_t>(g)].wait, now, by_copy));
    w.state = Warp::State::queued;
    events.add(w.next, Event::Kind::warp, w.index);
  }
}

uint64_t WakeUps::delay(const Warp& w, const Wait& wait, Cycle now, bool by_copy) const {
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

void WakeUps::pass_barrier(Warp& w, uint64_t barrier, Cycle now) const {
  w.wait_until(Stall::barrier, now + waits_.barrier(w.cta->barriers[barrier].last_arrived));
}

void WakeUps::pass_cluster_barrier(Warp& w) const {
  const Cycle met = w.arrived + waits_.cluster_barrier(w.cluster->ctas.size(), w.id);
  w.wait_until(Stall::cluster_barrier, std::max(w.next, met));
}

void WakeUps::pass_mbarrier(Warp& w, uint64_t mbarrier, Cycle now) const {
  w.wait_until(Stall::mbarrier, std::max(w.next, now + remote_delay(w, mbarrier, now)));
}

// Until the arrivals are there that are on their way to an mbarrier of the warp's CTA.
uint64_t WakeUps::remote_delay(const Warp& w, uint64_t mbarrier, Cycle now) const {
  const SharedAddress address((static_cast<uint32_t>(mbarrier) & shared_offset_mask) | w.sm
                                                                                           << cta_rank_shift);
  const Cycle there = remote_.arrives(w.cluster_number, address, now);
  return there == 0 ? 0 : there - now + whole_cycles(p_->mbarrier_wake);
}

}  // namespace palladion::sim::hardware
