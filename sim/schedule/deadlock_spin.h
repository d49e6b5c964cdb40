#pragma once
// Recognises a run in which warps execute but no state changes any more.
#include <cstdint>
#include <span>
#include <unordered_map>

#include "sim/machine/state/cluster.h"

namespace palladion::sim {

// While no memory, barrier or asynchronous operation changes, a warp's next state follows from its
// last one alone; one that returns to an earlier state spins forever.
class SpinDetector {
 public:
  // To be called after each quantum boundary at which nothing had changed since the one before; true when
  // every warp waits or is known to spin.
  bool all_spin(std::span<const ClusterState* const> resident);
  // Something has changed.
  void reset();

 private:
  struct Seen {
    uint64_t state = 0, mark = 0;  // mark: instructions of the cluster then
    bool spins = false;
  };
  std::unordered_map<uint64_t, Seen> warps_;  // by cluster, CTA and warp
  uint64_t boundaries_ = 0, keep_at_ = 1;
};

}  // namespace palladion::sim
