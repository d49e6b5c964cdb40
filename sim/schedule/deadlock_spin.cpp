#include "sim/schedule/deadlock_spin.h"

#include <algorithm>
#include <cstring>

#include "sim/machine/exec/exec.h"

namespace palladion::sim {
namespace {

uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15ULL;
  return h ^ h >> 32;
}

uint64_t hash(const LaneGroup& g, uint64_t h) {
  h = mix(mix(h, uint64_t{g.pc} << 32 | g.mask),
          static_cast<uint64_t>(g.wait.kind) << 1 | (g.resumed ? 1 : 0));
  h = mix(mix(h, g.wait.object), g.wait.value);
  for (const uint32_t pc : g.calls) h = mix(h, pc);
  return h;
}

// Registers and the pcs of the lanes. Memory has not changed.
uint64_t state_of(const WarpState& warp) {
  uint64_t h = warp.alive;
  for (const LaneGroup& g : warp.groups) h = hash(g, h);
  for (size_t i = 0; i + 8 <= warp.registers.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, warp.registers.data() + i, 8);
    h = mix(h, word);
  }
  return h;
}

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

}  // namespace

void SpinDetector::reset() {
  if (boundaries_ == 0) return;
  warps_.clear();
  boundaries_ = 0;
  keep_at_ = 1;
}

// Brent's search for a cycle: a state is kept until as many quantum boundaries again have passed.
bool SpinDetector::all_spin(std::span<const ClusterState* const> resident) {
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
        const uint64_t state = state_of(warp);
        seen.spins = boundaries_ > 1 && state == seen.state && all_ran(*cluster, cta, warp, seen.mark);
        if (keep) seen = {state, cluster->instructions, seen.spins};
        all &= seen.spins;
      }
    }
  }
  return all;
}

}  // namespace palladion::sim
