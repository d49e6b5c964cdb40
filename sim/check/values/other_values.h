#pragma once
// A run in which values that a finding calls arbitrary are others: what loads of a race read, what wgmma
// computes of bytes that race, and what shared memory holds when a CTA starts. Outputs that stay the same,
// bit by bit, do not depend on them.
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>

#include "sim/launch/finding.h"
#include "sim/launch/observer.h"
#include "sim/launch/per_cluster.h"

namespace palladion::sim::check {

// The only observer that changes a run: for experiments, never beside a checker.
class OtherValues final : public Observer {
 public:
  // Each byte that a racing load reads is combined with `pattern` by xor, each byte that a racing wgmma
  // computes is `pattern`; with `fill_shared`, the shared memory of a CTA starts with `pattern` in every byte
  // instead of zeros.
  OtherValues(std::span<const RacingRead> reads, bool fill_shared, uint8_t pattern);

  void start(const RunView& run) override { run_ = run; }
  void observe(ClusterState& cluster, ClusterEvents& events) override;
  bool watches(uint32_t pc) const override { return lanes_.contains(pc); }
  void retire(ClusterState& cluster) override;

 private:
  // The accumulators of a warpgroup, by their first register.
  struct Accumulators {
    uint16_t cta_rank = 0;
    uint32_t warp = 0;  // the first one, in the CTA
    uint32_t first = 0;
    auto operator<=>(const Accumulators&) const = default;
  };
  struct InCluster {
    OtherValues& all;
    ClusterState& cluster;
    struct Product {
      Accumulators d;
      uint32_t pc = 0;
    };
    std::unordered_map<uint64_t, Product> products;  // in flight, by id
    std::map<Accumulators, uint32_t> dependent;      // the warps whose part is arbitrary
    void on(const ClusterBegan& event);
    void on(const Executed& event);
    void on(const AsyncIssue& event);
    void on(const AsyncLanded& event);
  };
  // The lanes of a warp that race at an instruction.
  uint32_t racing(uint32_t pc, uint32_t cluster, uint32_t warp) const;

  std::unordered_map<uint32_t, std::unordered_map<uint64_t, uint32_t>>
      lanes_;  // by pc, then cluster and warp
  bool fill_shared_ = false;
  uint8_t pattern_ = 0;
  RunView run_;
  PerCluster<InCluster> clusters_;
};

}  // namespace palladion::sim::check
