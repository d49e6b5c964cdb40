#pragma once
// Runs PTX under the checks of registers, descriptors and numbers alone: no happens-before.
#include <gmock/gmock.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sim/check/watch_parts.h"
#include "sim/launch/per_cluster.h"
#include "sim/machine/state/cluster.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {

class NoOrder final : public check::OrderQueries {
 public:
  check::Point now(const Origin&) const override { return {}; }
  bool before(const check::Point&, const Origin&) const override { return true; }
  std::optional<Pc> met_before(const check::Point&, const Origin&) const override { return std::nullopt; }
};

class PartsOfCluster {
 public:
  PartsOfCluster(const RunView& run, ClusterState& cluster, const check::WatchAnalysis& analysis,
                 const check::Options& options)
      : reporter(run, cluster),
        context_{run, cluster, order_, reporter},
        parts(context_, analysis, options) {}

  check::Reporter reporter;

 private:
  NoOrder order_;
  check::ClusterContext context_;

 public:
  check::WatchParts parts;
};

class PartsObserver final : public Observer {
 public:
  void start(const RunView& run) override {
    run_ = run;
    analysis = std::make_unique<check::WatchAnalysis>(*run.program);
    instructions = run.program->code.size();
  }
  void observe(ClusterState& cluster, ClusterEvents& events) override {
    clusters_.add(cluster, std::make_unique<PartsOfCluster>(run_, cluster, *analysis, options))
        .parts.subscribe(events);
  }
  bool watches(sim::Pc pc) const override { return analysis->watches(pc, options); }
  bool deadlocked(std::span<const ClusterState* const> resident, bool, Finding&) override {
    for (const ClusterState* c : resident) clusters_.find(*c)->parts.deadlocked();
    return false;
  }
  void retire(ClusterState& cluster) override {
    const auto parts = clusters_.take(cluster);
    parts->parts.retired(sums_);
    for (auto& r : parts->reporter.found()) found.push_back(r.finding);
  }

  std::unique_ptr<check::WatchAnalysis> analysis;
  std::vector<Finding> found;
  size_t instructions = 0;
  check::Options options;

 private:
  RunView run_;
  PerCluster<PartsOfCluster> clusters_;
  check::SumsOfRun sums_;
};

// "PLD4401 16 12": code, and the PTX lines of the sites; `?` behind the code of a strict finding.
inline std::string brief(const Finding& f) {
  std::string out = f.code.name() + (f.severity == FindingSeverity::strict ? "?" : "");
  for (const Site& s : f.sites) out += " " + std::to_string(s.ptx_line);
  return out;
}

inline std::vector<std::string> briefs(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& f : findings) out.push_back(brief(f));
  return out;
}

// Runs under every schedule; the findings must be the same under each.
inline std::vector<Finding> findings_of(PtxRunner& runner) {
  std::vector<Finding> first;
  bool any = false;
  for (RunOptions o : every_schedule()) {
    PartsObserver observer;
    o.observer = &observer;
    o.threads = 1;  // kernels that race would race in the host's memory, too
    runner.run(o);
    if (any) {
      EXPECT_EQ(briefs(observer.found), briefs(first));
    } else {
      first = observer.found;
    }
    any = true;
  }
  return first;
}

}  // namespace palladion::sim::testing
