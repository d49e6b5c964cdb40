#include "sim/schedule/deadlock_spin.h"

#include <algorithm>

#include "sim/machine/exec/exec.h"

namespace palladion::sim {
namespace {

constexpr uint64_t first_look = 64, look_length = 64;  // boundaries

uint64_t key_of(const ClusterState& cluster, const CtaState& cta, const WarpState& warp) {
  return uint64_t{cluster.index} << 16 | cta.rank << 8 | warp.id;
}

// Whether every runnable group has executed since the cluster had executed `mark` instructions.
bool all_ran(const ClusterState& cluster, const CtaState& cta, const WarpState& warp, uint64_t mark) {
  return std::ranges::all_of(warp.groups, [&](const LaneGroup& g) {
    const bool waits = g.wait.kind != Wait::Kind::quantum_boundary && !can_proceed(cluster, cta, warp, g);
    return g.mask == 0 || waits || g.last_run >= mark;
  });
}

bool all_ran(const ClusterState& cluster, uint64_t mark) {
  return std::ranges::all_of(cluster.ctas, [&](const CtaState& cta) {
    return std::ranges::all_of(cta.warps,
                               [&](const WarpState& warp) { return all_ran(cluster, cta, warp, mark); });
  });
}

}  // namespace

void SpinDetector::reset() {
  if (boundaries_ == 0) return;
  warps_.clear();
  boundaries_ = 0;
  keep_at_ = 1;
}

// Brent's search for a cycle: a state is kept until as many quantum boundaries again have passed.
bool SpinDetector::all_spin(std::span<const ClusterState* const> resident, StateHash& hash) {
  ++boundaries_;
  const bool keep = boundaries_ == keep_at_;
  if (keep) keep_at_ *= 2;
  bool all = true;
  for (const ClusterState* cluster : resident) {
    for (const CtaState& cta : cluster->ctas) {
      for (const WarpState& warp : cta.warps) {
        if (warp.finished()) continue;
        Seen& seen = warps_[key_of(*cluster, cta, warp)];
        if (seen.spins) continue;
        const uint64_t state = hash.of(warp);
        seen.spins = boundaries_ > 1 && state == seen.state && all_ran(*cluster, cta, warp, seen.mark);
        if (keep) seen = {state, cluster->instructions, seen.spins};
        all &= seen.spins;
      }
    }
  }
  return all;
}

void ReturnDetector::reset() {
  if (boundaries_ == 0) return;
  clusters_.clear();
  boundaries_ = look_at_ = 0;
  looks_ = false;
  in_a_row_ = 0;
}

// Remembers the states of now.
void ReturnDetector::look(std::span<const ClusterState* const> resident, StateHash& hash) {
  looks_ = true;
  clusters_.clear();
  for (const ClusterState* c : resident)
    clusters_[c->index] = {StateHash::places(*c), hash.of(*c), c->instructions};
}

bool ReturnDetector::all_return(std::span<const ClusterState* const> resident, StateHash& hash) {
  ++boundaries_;
  if (boundaries_ == std::max(first_look, 2 * look_at_)) {
    look_at_ = boundaries_;
    look(resident, hash);
    return false;
  }
  if (!looks_) return false;
  bool all = true;
  for (const ClusterState* c : resident) {
    Seen& seen = clusters_[c->index];
    // What is in flight is not part of the hash.
    if (!seen.returned && c->pending.empty() && StateHash::places(*c) == seen.places)
      seen.returned = hash.of(*c) == seen.state && all_ran(*c, seen.mark);
    all &= seen.returned;
  }
  looks_ = !all && boundaries_ < look_at_ + look_length;
  if (!looks_) in_a_row_ = all ? in_a_row_ + 1 : 0;
  return in_a_row_ >= returns_;
}

}  // namespace palladion::sim
