#pragma once
// A run in which values that a finding calls arbitrary are others: what loads of a race read, what wgmma
// computes of bytes that race, what shared memory holds when a CTA starts, and tensor memory when it is
// allocated. What the run leaves in memory tells whether anything depends on them, if they were changed at
// all.
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/launch/finding.h"
#include "sim/launch/observer.h"
#include "sim/launch/per_cluster.h"

namespace palladion::sim::check {

// What is replaced.
struct Arbitrary {
  std::vector<RacingRead> reads;      // the results of these loads and wgmma
  std::vector<Site> unwritten_reads;  // instructions that read memory which nothing has written
  bool shared_memory = false, tensor_memory = false;  // that of these instructions
};

// The only observer that changes a run: for experiments, never beside a checker.
class OtherValues final : public Observer {
 public:
  // Series of other values: any bits; other exponents of floats; neighbours of integers.
  static constexpr uint32_t series = 3;
  // `which`: a series. Each byte of a value is combined by xor with, or replaced by, a byte that is not zero
  // and depends on the series, the place of the value and how many were replaced before. Shared or tensor
  // memory of each CTA starts with such bytes instead of zeros.
  OtherValues(const Arbitrary& what, uint32_t which);

  // After the run: each of the reads was executed, and got other values.
  bool changed_every_read() const;

  void start(const RunView& run) override;
  void observe(ClusterState& cluster, ClusterEvents& events) override;
  bool watches(Pc pc) const override;
  void retire(ClusterState& cluster) override;

 private:
  // Lanes of each warp, by pc, then cluster and warp.
  using LanesAt = std::unordered_map<Pc, std::unordered_map<uint64_t, uint32_t>>;
  struct UnwrittenRead {
    Site site;
    std::set<Pc> pcs = {};  // of that place
    bool executed = false;  // where the memory had other bytes
  };
  // The accumulators of a warpgroup, by their first register.
  struct Accumulators {
    CtaRank cta_rank;
    WarpOfCta warp;  // the first one
    uint32_t first = 0;
    auto operator<=>(const Accumulators&) const = default;
  };
  struct InCluster {
    OtherValues& all;
    ClusterState& cluster;
    struct Product {
      Accumulators d;
      Pc pc;
    };
    std::unordered_map<uint64_t, Product> products;  // in flight, by id
    std::map<Accumulators, uint32_t> dependent;      // the warps whose part is arbitrary
    LanesAt changed = {};
    std::set<Pc> executed = {};  // watched instructions
    uint64_t replaced = 0;       // values so far
    void on(const ClusterBegan& event);
    void on(const TensorAllocated& event);
    void on(const Executed& event);
    void on(const AsyncIssue& event);
    void on(const AsyncLanded& event);

   private:
    void change(uint8_t* lane, size_t width, isa::Type type);
    // True when they are not what they were.
    bool replace(uint8_t* bytes, size_t size);
  };
  static uint32_t at(const LanesAt& all, Pc pc, uint64_t warp);

  std::vector<UnwrittenRead> unwritten_reads_;
  LanesAt lanes_, changed_;
  bool shared_memory_ = false, tensor_memory_ = false;
  uint32_t series_ = 0;
  RunView run_;
  PerCluster<InCluster> clusters_;
};

}  // namespace palladion::sim::check
