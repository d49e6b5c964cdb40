#pragma once
// One cluster's checker: hands every event to the parts that judge it.
#include "sim/check/checker.h"
#include "sim/check/memory/bounds.h"
#include "sim/check/memory/memory.h"
#include "sim/check/memory/race_report.h"
#include "sim/check/order/happens_before.h"
#include "sim/check/protocol/ledger.h"
#include "sim/check/watch_parts.h"

namespace palladion::sim::check {

class ClusterChecker final : public ClusterObserver {
 public:
  ClusterChecker(const RunView& run, ClusterState& cluster, const Options& options,
                 const WatchAnalysis& analysis, const ArrayBounds& arrays, Locations& locations);

  void reached(const Origin& who) override;
  void executes(const Origin& who) override;
  void executed(const Origin& who) override;
  void accessed(const Origin& who, const Access& a) override;
  void fenced(const Origin& who) override;
  void warp_synced(const Origin& who) override;
  void mbarrier(const Origin& who, const MbarrierEvent& e) override;
  void cta_barrier(const Origin& who, const CtaBarrierEvent& e) override;
  void cluster_barrier(const Origin& who, const ClusterBarrierEvent& e) override;
  void issued(const Origin& who, const AsyncIssue& e) override;
  void joined(const Origin& who, uint64_t id) override;
  void async_landed(uint64_t id) override;
  void committed(const Origin& who, GroupKind kind) override;
  void waited(const Origin& who, GroupKind kind, uint64_t allowed, bool read_only) override;
  void arrival_deferred(const Origin& who, uint64_t id, std::span<const uint64_t> awaited) override;
  void registers_set(const Origin& who, uint32_t before, uint32_t after) override;
  void exited(const Origin& who) override;
  void ended() override;

  // Judges the cluster's accesses of GMEM since the last edge.
  void judge_global(GlobalMemoryChecks& global);
  // Nothing can move any more.
  void deadlocked();
  Reporter& reporter() { return reporter_; }
  const Ledger& ledger() const { return ledger_; }
  void retired(SumsOfRun& sums) { watch_.retired(sums); }
  void add_to(Coverage& coverage) const;

 private:
  Options options_;
  HappensBefore order_;
  Reporter reporter_;
  const ClusterContext context_;
  Ledger ledger_;
  RaceReporter shared_races_, global_races_;
  MemoryChecks memory_;
  WatchParts watch_;
  Bounds bounds_;
  uint64_t async_operations_ = 0, generations_ = 0;
  bool timing_dependent_ = false;
};

}  // namespace palladion::sim::check
