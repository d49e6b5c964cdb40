#include "sim/clock/group/residents.h"

#include <algorithm>
#include <utility>

namespace palladion::sim::hardware {

ClusterOfGroup Residents::add(ClusterState& cluster) {
  const auto free = std::ranges::find(clusters_, static_cast<ClusterState*>(nullptr));
  const ClusterOfGroup number(free - clusters_.begin());
  if (free == clusters_.end()) clusters_.emplace_back();
  clusters_[number] = &cluster;
  return number;
}

Warp& Residents::free_warp() {
  if (free_warps_.empty()) {
    Warp& w = warps_.emplace_back();
    w.index = static_cast<uint32_t>(warps_.size() - 1);
    return w;
  }
  const uint32_t index = free_warps_.back();
  free_warps_.pop_back();
  return warps_[index];
}

void Residents::start(ClusterState& cluster, Cycle time, std::span<Sm> sms, const InstructionCosts& costs,
                      uint32_t warpgroup, Events& events) {
  const ClusterOfGroup number = add(cluster);
  for (CtaState& cta : cluster.ctas) {
    Issue& issue = sms[cta.rank].issue;
    const auto warps = static_cast<uint32_t>(cta.warps.size());
    const uint64_t before = (uint64_t{cluster.index} * cluster.ctas.size() + cta.rank) * warps;
    for (WarpState& warp : cta.warps) {
      Warp& w = free_warp();
      const uint32_t index = w.index;
      WarpRegisters registers = std::move(w.registers);  // with the room that it has
      registers.reset(costs, index, time);
      std::vector<StallPart> stalls = std::move(w.stalls);
      stalls.clear();
      w = {.index = index,
           .cluster_number = number,
           .sm = cta.rank,
           .id = warp.id,
           .warpgroup = before + warp.id / warpgroup,
           .cluster = &cluster,
           .cta = &cta,
           .warp = &warp,
           .sub_core = issue.sub_core_of(warp.id),
           .state = Warp::State::queued,
           .next = time,
           .since = time,
           .stalls = std::move(stalls),
           .block = time,
           .registers = std::move(registers),
           .arrived = time};
      events.add(time, Event::Kind::warp, index);
    }
    issue.place(warps);
  }
}

ClusterOfGroup Residents::remove(const ClusterState& cluster) {
  const auto member = std::ranges::find(clusters_, &cluster);
  const ClusterOfGroup number(member - clusters_.begin());
  *member = nullptr;
  for (Warp& w : warps_) {
    if (w.cluster_number != number) continue;
    w.state = Warp::State::done;
    w.cluster_number = no_cluster;
    w.cluster = nullptr;
    free_warps_.push_back(w.index);
  }
  return number;
}

void Residents::rebind() {
  for (Warp& w : warps_) {
    if (w.cluster == nullptr) continue;
    w.cta = &w.cluster->ctas[w.sm];
    w.warp = &w.cta->warps[w.id];
  }
}

// Each warp's state lies behind pointers that depend on each other: those of all warps are followed at once.
void Residents::prefetch() const {
  for (const Warp& w : warps_)
    if (w.state != Warp::State::done) __builtin_prefetch(w.warp);
  for (const Warp& w : warps_)
    if (w.state != Warp::State::done) __builtin_prefetch(w.warp->groups.data());
}

void Residents::share_tensor_memory(uint32_t sms) const {
  for (uint32_t rank = 0; rank < sms; ++rank) {
    for (ClusterState* c : clusters_) {
      if (c == nullptr) continue;
      uint32_t others = 0;
      for (const ClusterState* other : clusters_)
        if (other != nullptr && other != c) others |= other->ctas[rank].tensor.own();
      c->ctas[rank].tensor.elsewhere = static_cast<uint16_t>(others);
    }
  }
}

}  // namespace palladion::sim::hardware
