#pragma once
// Several observers of one run: each receives every event, as if it were the only one.
#include <utility>
#include <vector>

#include "sim/launch/observer.h"

namespace palladion::sim::check {

class Observers final : public Observer {
 public:
  // In this order; they must outlive the run.
  explicit Observers(std::vector<Observer*> all) : all_(std::move(all)) {}

  void start(const RunView& run) override;
  void observe(ClusterState& cluster, ClusterEvents& events) override;
  bool watches(Pc pc) const override;
  void at_quantum_boundary(std::span<ClusterState* const> resident) override;
  bool wants_pause(const ClusterState& cluster) const override;
  void retire(ClusterState& cluster) override;
  std::vector<std::shared_ptr<void>> take_retired() override;
  // The first that can explain it does; the others are called as well.
  bool deadlocked(std::span<const ClusterState* const> resident, bool more_clusters,
                  Finding& finding) override;
  void finish(std::vector<Finding>& findings) override;

 private:
  std::vector<Observer*> all_;
};

}  // namespace palladion::sim::check
