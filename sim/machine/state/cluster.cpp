#include "sim/machine/state/cluster.h"

#include <algorithm>

namespace palladion::sim {

AsyncOp* find_pending(ClusterState& cluster, uint64_t id) {
  const auto found = std::ranges::lower_bound(cluster.pending, id, {}, &AsyncOp::id);
  return found != cluster.pending.end() && found->id == id ? &*found : nullptr;
}

bool is_pending(const ClusterState& cluster, uint64_t id) {
  return std::ranges::binary_search(cluster.pending, id, {}, &AsyncOp::id);
}

bool ClusterState::finished() const {
  for (const CtaState& c : ctas)
    if (c.alive_threads != 0) return false;
  return pending.empty();
}

}  // namespace palladion::sim
