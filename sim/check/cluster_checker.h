#pragma once
// One cluster's checker: the parts that judge its events, and what they share.
#include "sim/check/checker.h"
#include "sim/check/memory/bounds.h"
#include "sim/check/memory/foreign_local.h"
#include "sim/check/memory/lockstep.h"
#include "sim/check/memory/memory.h"
#include "sim/check/memory/one_store.h"
#include "sim/check/memory/race_report.h"
#include "sim/check/memory/tensor_memory.h"
#include "sim/check/memory/tensor_report.h"
#include "sim/check/order/happens_before.h"
#include "sim/check/protocol/ledger.h"
#include "sim/check/watch_parts.h"

namespace palladion::sim::check {

class ClusterChecker {
 public:
  ClusterChecker(const RunView& run, ClusterState& cluster, const Options& options,
                 const WatchAnalysis& analysis, const ArrayBounds& arrays, Locations& locations);

  // Subscribes the parts in order: each part finds the state of the parts before it already updated by the
  // event.
  void subscribe(ClusterEvents& events);

  void on(const Access& a);
  void on(const MbarrierEvent& e);
  void on(const CtaBarrierEvent& e);
  void on(const ClusterBarrierEvent& e);
  void on(const AsyncIssue& e);

  // True when other clusters may be ordered after something that this one did.
  bool released_globally() const { return order_.strong().released_globally(); }
  // The accesses of GMEM that wait to be judged.
  size_t log_size() const { return memory_.log().size(); }
  // Judges the cluster's accesses of GMEM since the last time.
  void judge_global(GlobalMemoryChecks& global);
  // The cluster is deadlocked.
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
  TensorRaceReporter tensor_races_;
  TensorMemoryChecks tensor_;
  WatchParts watch_;
  Bounds bounds_;
  ForeignLocal foreign_local_;
  OneStore one_store_;
  Lockstep lockstep_;
  uint64_t async_operations_ = 0, generations_ = 0;
  bool timing_dependent_ = false;
};

}  // namespace palladion::sim::check
