#pragma once
// Recognises a run in which warps execute but no state changes any more.
#include <cstdint>
#include <span>
#include <unordered_map>

#include "sim/machine/state/cluster.h"
#include "sim/schedule/state_hash.h"

namespace palladion::sim {

// While no memory, barrier or asynchronous operation changes, a warp's next state follows from its
// last one alone; one that returns to an earlier state spins forever.
class SpinDetector {
 public:
  // To be called after each quantum boundary at which nothing had changed since the one before; true when
  // every warp waits or is known to spin.
  bool all_spin(std::span<const ClusterState* const> resident, StateHash& hash);
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

// While GMEM does not change, a cluster's next state follows from its last one alone: where its threads meet
// at barriers and exchange values through SMEM in each round of a spin. Looks from time to time, since a
// state is large.
class ReturnDetector {
 public:
  // `returns`: how many looks in a row must see all clusters return; more than one where the schedule is
  // random, which may leave a loop of states.
  explicit ReturnDetector(uint32_t returns) : returns_(returns) {}

  // To be called after each quantum boundary at which nothing outside of a cluster had changed since the one
  // before; true when every cluster returns to states that it had.
  bool all_return(std::span<const ClusterState* const> resident, StateHash& hash);
  // Something outside of a cluster has changed.
  void reset();

 private:
  struct Seen {
    uint64_t places = 0, state = 0, mark = 0;
    bool returned = false;
  };
  void look(std::span<const ClusterState* const> resident, StateHash& hash);

  uint32_t returns_;
  std::unordered_map<uint32_t, Seen> clusters_;  // by index in the grid
  uint64_t boundaries_ = 0, look_at_ = 0;
  bool looks_ = false;
  uint32_t in_a_row_ = 0;  // looks that saw all return
};

}  // namespace palladion::sim
