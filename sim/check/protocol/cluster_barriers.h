#pragma once
// The barrier of a cluster (PTX, "barrier.cluster").
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/check/protocol/named_barriers.h"

namespace palladion::sim::check {

class ClusterBarriers {
 public:
  explicit ClusterBarriers(const Protocol& protocol) : p_(protocol), arrived_(protocol.causality.warps()) {}

  void on(const ClusterBarrierEvent& e);

  // Arrivals of the generation; null when there are none.
  const BarrierGeneration* find(uint64_t generation) const;

 private:
  struct Arrived {
    std::array<uint64_t, 32> next{};    // by lane: the generation after that of its last arrival; 0: never
    std::array<uint64_t, 32> waited{};  // the same of its last wait
    Pc pc;
  };
  BarrierGeneration& generation(uint64_t number);
  void check_twice(const Origin& origin, const Arrived& a, uint64_t number);
  void check_wait(const Origin& origin, Arrived& a);

  const Protocol& p_;
  std::deque<BarrierGeneration> generations_;
  std::vector<Arrived> arrived_;  // by warp of the cluster
};

}  // namespace palladion::sim::check
