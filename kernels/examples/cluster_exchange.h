#pragma once
// All to all within a cluster: piece s of CTA r becomes piece r of CTA s, round after round, through
// distributed shared memory alone. Odd numbers of rounds transpose, even ones return the input.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct ClusterExchange {
  enum class Variant : uint8_t {
    load,   // each CTA reads the pieces of the others: ld.shared::cluster
    store,  // each CTA sends its pieces: st.async, which the receiver's barrier counts
  };

  int64_t clusters = 66;
  int64_t n = 2048;     // f32 of a piece: a multiple of 128
  int64_t cluster = 2;  // CTAs: 2, 4 or 8
  int64_t rounds = 15;
  Variant variant = Variant::load;
};

// Input: (clusters, cluster, cluster, n). Output: the same shape.
plgpu::Kernel cluster_exchange(const ClusterExchange& config);

}  // namespace palladion::kernels
