#pragma once
// Whose work a cluster does, and what depends on it: its own, and that of the clusters whose launches it
// cancels (clusterlaunchcontrol). Where nothing but places in GMEM depends on the numbers of these clusters,
// a cluster executes the same for all sequences of answers of one length. The proof:
// docs/concepts/all_schedules.md.
//
// A number comes from %ctaid, %clusterid or a decoded answer. A value that is made of numbers has a hash of
// how it is computed, without the numbers themselves, and the cluster whose number it is.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/explore/data_slice.h"
#include "sim/launch/observer.h"
#include "sim/launch/per_cluster.h"

namespace palladion::sim::check {

// What depends on the number of one cluster, in one run: hashes.
struct Work {
  // Sums over all accesses, in any order: how each place in GMEM that is written is computed, and its bytes.
  uint64_t ways = 0, places = 0;
  // How each place that is read is computed; each branch, guard, count and place in SMEM, and how it came
  // out.
  std::set<uint64_t> facts;
};

struct WorkScope {
  std::string obstacle;           // why the run shows nothing of other answers; empty: it does
  std::map<uint32_t, Work> work;  // by the linear number of a cluster's first CTA
  std::set<uint64_t> lengths;     // of how many clusters one cluster did the work
};

class ClusterWork;

class WorkObserver final : public Observer {
 public:
  WorkObserver();
  ~WorkObserver() override;

  void start(const RunView& run) override;
  void observe(ClusterState& cluster, ClusterEvents& events) override;
  bool watches(Pc pc) const override;
  void retire(ClusterState& cluster) override;
  void finish(std::vector<Finding>& findings) override;

  const WorkScope& scope() const { return scope_; }  // after the run

 private:
  void wrote(uint64_t address, uint64_t bytes, uint32_t line);

  RunView run_;
  DataSlice slice_;
  PerCluster<ClusterWork> clusters_;
  std::set<uint64_t> read_;                        // arrays, by the addresses where they begin
  std::map<uint64_t, std::vector<bool>> written_;  // the same: of each byte
  WorkScope scope_;
};

}  // namespace palladion::sim::check
