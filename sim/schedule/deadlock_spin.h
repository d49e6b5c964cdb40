#pragma once
// Recognises a run in which warps still execute but nothing can ever change.
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/program/program.h"

namespace palladion::sim {

// While no memory, barrier or asynchronous operation changes, a warp's next state follows from its
// last one alone; one that comes back to a state it was in spins for ever.
class SpinDetector {
 public:
  explicit SpinDetector(const Program& program) : program_(program) {}

  // To be called after each edge at which nothing had changed since the one before; true when every warp
  // waits or is known to spin.
  bool all_spin(const std::vector<std::unique_ptr<ClusterState>>& resident);
  // Something has changed.
  void reset();

 private:
  struct Seen {
    uint64_t state = 0, mark = 0;  // mark: instructions of the cluster then
    bool spins = false;
  };
  const Program& program_;
  std::unordered_map<const WarpState*, Seen> warps_;
  uint64_t edges_ = 0, keep_at_ = 1;
};

}  // namespace palladion::sim
