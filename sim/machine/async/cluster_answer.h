#pragma once
// What clusterlaunchcontrol.try_cancel writes to shared memory. It is opaque to programs, query_cancel
// decodes it; these bytes are ours, not a chip's.
#include <cstdint>

namespace palladion::sim {

struct ClusterAnswer {
  uint32_t x, y, z;  // the first CTA of the cluster
  uint32_t given;    // 0: none was left
};

}  // namespace palladion::sim
