#include "sim/explore/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "sim/check/catalogue/code.h"
#include "sim/explore/decide.h"
#include "sim/explore/problem_finding.h"
#include "sim/explore/spectators.h"
#include "sim/schedule/worker_pool.h"

namespace palladion::sim::check {
namespace {

class Judgement {
 public:
  Judgement(const ExploreOptions& options, unsigned threads) : options_(options), workers_(threads) {}

  ExploreReport judge(const std::vector<SkeletonObserver::Recorded>& recorded) {
    report_.all_schedules = !recorded.empty();
    for (const auto& r : recorded) add(r);
    search_waiting();
    report_.verdict = verdict();
    report_.coverage = coverage();
    return std::move(report_);
  }

 private:
  // A skeleton to search.
  struct Waiting {
    Skeleton skeleton;
    uint64_t clusters = 0;
  };

  void add(const SkeletonObserver::Recorded& r) {
    ++report_.skeletons;
    report_.clusters += r.clusters;
    operations_ += r.skeleton.operations();
    for (const std::string& f : r.skeleton.frozen) frozen_.insert(f);
    if (!r.skeleton.incomplete.empty()) {
      search_waiting();
      return undecided(r.skeleton.incomplete);
    }
    const ForcedVerdict v = decide_forced(r.skeleton);
    if (v.forced) {
      ++report_.forced;
      return;
    }
    if (unforced_.empty()) unforced_ = "not forced: " + unforced_text(r.skeleton, v);
    for (Skeleton& s : without_other_spectators(r.skeleton)) {
      if (decide_forced(s).forced) continue;
      waiting_.push_back({std::move(s), r.clusters});
      if (waiting_.size() == workers_.workers()) search_waiting();
    }
  }

  uint64_t left() const { return options_.budget - std::min(report_.states, options_.budget); }
  Exploration explore_within(const Skeleton& s, uint64_t budget) const {
    return explore(s, {budget, options_.budget_after_problem, options_.reduce});
  }

  // Searches side by side, each with all the states that are left. Results are taken in order: a search that
  // found fewer left than it has used is repeated within these.
  void search_waiting() {
    const uint64_t all = left();
    std::vector<Exploration> found(waiting_.size());
    if (all != 0)
      workers_.for_each(found.size(),
                        [&](size_t i, unsigned) { found[i] = explore_within(waiting_[i].skeleton, all); });
    for (size_t i = 0; i < found.size(); ++i) {
      const uint64_t budget = left();
      if (budget != 0 && budget < all && found[i].states >= budget)
        found[i] = explore_within(waiting_[i].skeleton, budget);
      take(waiting_[i], found[i], budget);
    }
    waiting_.clear();
  }

  void take(const Waiting& w, const Exploration& e, uint64_t budget) {
    if (budget == 0) return undecided(budget_text());
    report_.states += e.states;
    report_.classes += e.classes;
    if (!e.complete) undecided(e.stopped ? "the search ended after its findings" : budget_text());
    for (const Problem& p : e.problems) add(to_finding(w.skeleton, p), w.clusters);
  }

  // One finding for each code, pair of lines and object; deadlocks are all one.
  void add(Finding f, uint64_t clusters) {
    const Site& s = f.sites.front();
    const bool deadlock = f.code == Code::possible_deadlock;
    const uint32_t line = s.source.known() ? s.source.line : s.ptx_line;
    const auto key = std::tuple(f.code, deadlock ? 0 : line, deadlock ? std::string() : s.source.file);
    const auto [at, is_new] = known_.try_emplace(key, report_.findings.size());
    if (!is_new) {
      report_.findings[at->second].count += clusters;
      return;
    }
    f.count = clusters;
    report_.findings.push_back(std::move(f));
  }

  std::string budget_text() const { return fmt::format("budget of {} states", options_.budget); }

  void undecided(const std::string& reason) {
    report_.all_schedules = false;
    if (undecided_.empty()) undecided_ = reason;
  }

  std::string verdict() const {
    if (report_.skeletons == 0) return "incomplete: nothing was recorded";
    if (!report_.all_schedules)
      return fmt::format("incomplete: {}; {} classes explored", undecided_, report_.classes);
    return frozen_.empty() ? "all schedules" : "all schedules of the recorded control flow";
  }

  std::string coverage() {
    report_.frozen = !frozen_.empty();
    std::string out = fmt::format(
        "{} synchronisation operations of {} cluster{}, {} of them different; {} decided "
        "by forced phases, {} states explored for the others",
        operations_, report_.clusters, report_.clusters == 1 ? "" : "s", report_.skeletons, report_.forced,
        report_.states);
    if (!unforced_.empty()) out += "; " + unforced_;
    if (!frozen_.empty()) out += fmt::format("; frozen as recorded: {}", *frozen_.begin());
    if (frozen_.size() > 1) out += fmt::format(" and {} more", frozen_.size() - 1);
    return out;
  }

  ExploreOptions options_;
  WorkerPool workers_;
  std::vector<Waiting> waiting_;  // as many as there are workers
  ExploreReport report_;
  uint64_t operations_ = 0;
  std::set<std::string> frozen_;
  std::string unforced_, undecided_;
  std::map<std::tuple<isa::CodeNumber, uint32_t, std::string>, size_t> known_;
};

}  // namespace

ExploreReport explore_run(const std::vector<SkeletonObserver::Recorded>& recorded,
                          const ExploreOptions& options, unsigned threads) {
  return Judgement(options, threads).judge(recorded);
}

}  // namespace palladion::sim::check
