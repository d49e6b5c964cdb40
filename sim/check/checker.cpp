#include "sim/check/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "sim/check/cluster_checker.h"
#include "sim/check/core/merge.h"
#include "sim/check/deadlock/deadlock.h"
#include "sim/launch/per_cluster.h"

namespace palladion::sim::check {

std::optional<Options> options_named(std::string_view words, std::string* unknown) {
  if (words == "all") return Options{};
  Options o{.race = false, .barrier = false, .memory = false, .numerics = false};
  if (words == "none") return o;
  while (true) {
    const size_t end = std::min(words.find(','), words.size());
    const std::string_view word = words.substr(0, end);
    if (word == "race") {
      o.race = true;
    } else if (word == "barrier") {
      o.barrier = true;
    } else if (word == "memory") {
      o.memory = true;
    } else if (word == "numerics") {
      o.numerics = true;
    } else {
      if (unknown != nullptr) *unknown = word;
      return std::nullopt;
    }
    if (end == words.size()) return o;
    words.remove_prefix(end + 1);
  }
}

struct Checker::State {
  State(const RunView& r, const Options& options)
      : run(r), analysis(*r.program), arrays(run), global(*r.memory, options.global) {}

  void keep(const Reported& r) {
    const auto [at, fresh] = findings.try_emplace(r.key, r.finding);
    if (fresh) {
      keys.push_back(r.key);
    } else {
      at->second.count += r.finding.count;
      add_reads(at->second, r.finding);
    }
  }

  RunView run;
  WatchAnalysis analysis;
  ArrayBounds arrays;
  SumsOfRun sums;
  Locations locations;
  GlobalMemoryChecks global;
  PerCluster<ClusterChecker> clusters;
  std::map<FindingKey, Finding> findings;
  std::vector<FindingKey> keys;  // in the order of first sight
  uint64_t dropped = 0;
  std::vector<std::shared_ptr<void>> retired;  // checkers: to destroy one takes a millisecond
};

Checker::Checker(const Options& options) : options_(options) {}
Checker::~Checker() = default;

void Checker::start(const RunView& run) {
  state_ = std::make_unique<State>(run, options_);
  coverage_ = {};
}

void Checker::observe(ClusterState& cluster, ClusterEvents& events) {
  if (!options_.any()) return;
  State& s = *state_;
  s.clusters
      .add(cluster,
           std::make_unique<ClusterChecker>(s.run, cluster, options_, s.analysis, s.arrays, s.locations))
      .subscribe(events);
}

bool Checker::watches(Pc pc) const { return state_->analysis.watches(pc, options_); }

void Checker::at_quantum_boundary(std::span<ClusterState* const> resident) {
  for (ClusterState* c : resident)
    if (ClusterChecker* checker = state_->clusters.find(*c)) checker->judge_global(state_->global);
}

bool Checker::wants_pause(const ClusterState& cluster) const {
  const ClusterChecker* checker = state_->clusters.find(cluster);
  return checker != nullptr && checker->log_size() >= options_.global.log;
}

void Checker::retire(ClusterState& cluster) {
  State& s = *state_;
  std::unique_ptr<ClusterChecker> checker = s.clusters.take(cluster);
  if (checker == nullptr) return;
  checker->judge_global(s.global);
  s.global.retired(cluster.index, checker->released_globally());
  checker->retired(s.sums);
  for (const Reported& r : checker->reporter().found()) s.keep(r);
  checker->reporter().found().clear();
  s.dropped += checker->reporter().dropped();
  checker->add_to(coverage_);
  s.retired.emplace_back(std::move(checker));
}

std::vector<std::shared_ptr<void>> Checker::take_retired() {
  return state_ == nullptr ? std::vector<std::shared_ptr<void>>() : std::exchange(state_->retired, {});
}

bool Checker::deadlocked(std::span<const ClusterState* const> resident, bool more_clusters,
                         Finding& finding) {
  std::vector<const Ledger*> ledgers;
  for (const ClusterState* c : resident) {
    ClusterChecker* const checker = state_->clusters.find(*c);
    if (checker == nullptr) continue;
    checker->deadlocked();
    ledgers.push_back(&checker->ledger());
  }
  if (!options_.barrier || ledgers.empty()) return false;
  finding = explain_deadlock(state_->run, ledgers, more_clusters);
  return true;
}

// The most important first: what stopped the run, errors before the rest, then in the order in which they
// were made.
void Checker::finish(std::vector<Finding>& findings) {
  if (state_ == nullptr) return;
  State& s = *state_;
  std::vector<Finding> all;
  for (const FindingKey& key : s.keys) all.push_back(std::move(s.findings[key]));
  for (Finding& f : findings) add_names(s.run, f);
  std::ranges::move(findings,
                    std::back_inserter(all));  // what the machine found, which one of ours may explain
  findings = merge(std::move(all));
  std::ranges::stable_sort(findings, {}, [](const Finding& f) { return std::tuple(!f.fatal, f.severity); });
  if (findings.size() > options_.max_findings) {
    s.dropped += findings.size() - options_.max_findings;
    findings.resize(options_.max_findings);
  }
  if (s.dropped != 0)
    coverage_.incomplete.push_back(fmt::format("{} findings of further kinds were not kept", s.dropped));
  if (s.global.overflowed())
    coverage_.incomplete.emplace_back("the history of global memory outgrew its budget");
  s.findings.clear();
  s.keys.clear();
}

}  // namespace palladion::sim::check
