#pragma once
// The checker of a run: give it to RunOptions::observer, read RunResult::findings.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/check/core/options.h"
#include "sim/launch/finding.h"
#include "sim/launch/observer.h"

namespace palladion::sim::check {

// What a run's verdict rests on.
struct Coverage {
  uint64_t accesses = 0;          // of memory, that were judged
  uint64_t async_operations = 0;  // copies and products
  // Mbarrier phases that are the same in every schedule (forced), and the others.
  uint64_t forced_phases = 0, unforced_phases = 0;
  Statement unforced_reason;  // of the first
  uint64_t barrier_generations = 0;
  bool timing_dependent_control = false;  // a value that depends on timing was read: polling, tickets, clocks
  std::vector<std::string> incomplete;    // why something could not be judged
  std::set<Pc> copies;                    // stores by which lanes wrote one value to one address
};

class Checker final : public Observer {  // races, barriers, memory, numerics: sim/check
 public:
  explicit Checker(const Options& options = {});
  ~Checker() override;

  void start(const RunView& run) override;  // before the first event
  void observe(ClusterState& cluster, ClusterEvents& events) override;
  bool watches(Pc pc) const override;
  void at_quantum_boundary(std::span<ClusterState* const> resident) override;
  bool wants_pause(const ClusterState& cluster) const override;
  void retire(ClusterState& cluster) override;
  std::vector<std::shared_ptr<void>> take_retired() override;
  bool deadlocked(std::span<const ClusterState* const> resident, bool more_clusters,
                  Finding& finding) override;
  void finish(std::vector<Finding>& findings) override;

  // What the verdict rests on, after the run.
  const Coverage& coverage() const { return coverage_; }

 private:
  struct State;

  Options options_;
  std::unique_ptr<State> state_;  // of the run
  Coverage coverage_;
};

}  // namespace palladion::sim::check
