#include "sim/check/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sim/check/cluster_checker.h"
#include "sim/check/deadlock/deadlock.h"

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

Checker::Checker(const Options& options) : options_(options) {}
Checker::~Checker() = default;

void Checker::start(const RunView& run) {
  run_ = run;
  analysis_ = std::make_unique<WatchAnalysis>(*run.program);
  global_ = std::make_unique<GlobalMemoryChecks>(*run.memory);
  arrays_ = std::make_unique<ArrayBounds>(run_);
  sums_ = std::make_unique<SumsOfRun>();
  locations_.clear();
  findings_.clear();
  keys_.clear();
  dropped_ = 0;
  coverage_ = {};
  clusters_.clear();
}

void Checker::observe(ClusterState& cluster, ClusterEvents& events) {
  if (!options_.any()) return;
  clusters_
      .add(cluster,
           std::make_unique<ClusterChecker>(run_, cluster, options_, *analysis_, *arrays_, locations_))
      .subscribe(events);
}

bool Checker::watches(uint32_t pc) const { return analysis_->watches(pc, options_); }

void Checker::at_quantum_boundary(std::span<ClusterState* const> resident) {
  for (ClusterState* c : resident)
    if (ClusterChecker* checker = clusters_.find(*c)) checker->judge_global(*global_);
}

void Checker::keep(const Reported& r) {
  const auto [at, fresh] = findings_.try_emplace(r.key, r.finding);
  if (fresh)
    keys_.push_back(r.key);
  else
    at->second.count += r.finding.count;
}

void Checker::retire(ClusterState& cluster) {
  const std::unique_ptr<ClusterChecker> checker = clusters_.take(cluster);
  if (checker == nullptr) return;
  checker->judge_global(*global_);
  checker->retired(*sums_);
  for (const Reported& r : checker->reporter().found()) keep(r);
  checker->reporter().found().clear();
  dropped_ += checker->reporter().dropped();
  checker->add_to(coverage_);
}

bool Checker::deadlocked(std::span<const ClusterState* const> resident, bool more_clusters,
                         Finding& finding) {
  std::vector<const Ledger*> ledgers;
  for (const ClusterState* c : resident) {
    ClusterChecker* const checker = clusters_.find(*c);
    if (checker == nullptr) continue;
    checker->deadlocked();
    ledgers.push_back(&checker->ledger());
  }
  if (!options_.barrier || ledgers.empty()) return false;
  finding = explain_deadlock(run_, ledgers, more_clusters);
  return true;
}

// The most important first: what stopped the run, errors before the rest, then in the order in which they
// were made.
void Checker::finish(std::vector<Finding>& findings) {
  for (const FindingKey& key : keys_) findings.push_back(std::move(findings_[key]));
  std::ranges::stable_sort(findings, {}, [](const Finding& f) { return std::tuple(!f.fatal, f.severity); });
  if (findings.size() > options_.max_findings) {
    dropped_ += findings.size() - options_.max_findings;
    findings.resize(options_.max_findings);
  }
  if (dropped_ != 0)
    coverage_.incomplete.push_back(fmt::format("{} findings of further kinds were not kept", dropped_));
  if (global_ != nullptr && global_->overflowed())
    coverage_.incomplete.emplace_back("the history of global memory outgrew its budget");
  findings_.clear();
  keys_.clear();
}

}  // namespace palladion::sim::check
