#include "cli/check/check_run.h"
#include "cli/support/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "cli/support/term.h"
#include "report/html/recording.h"
#include "report/text/row.h"
#include "sim/schedule/worker_pool.h"

namespace palladion::cli {
namespace {

using sim::check::Conditions;
using Kind = sim::Schedule::Kind;
constexpr unsigned usual_check_seeds = 20;
constexpr unsigned most_together = 8;  // runs: each has arrays and checkers of its own

// The adverse schedules, of which a single run is often enough; or those that the user names.
std::vector<Conditions> named_conditions(const CheckRequest& request) {
  if (request.run.conditions) return {*request.run.conditions};
  std::vector<Conditions> out;
  for (const Kind kind : {Kind::functional, Kind::latest, Kind::earliest})
    out.push_back({.schedule = {kind, 0}, .order = {}});
  return out;
}

std::vector<Conditions> seeded_conditions(const CheckRequest& request) {
  std::vector<Conditions> out;
  for (unsigned i = 0; i < request.seeds.value_or(usual_check_seeds); ++i)
    out.push_back({.schedule = {Kind::seeded, request.run.subject.seed + i}, .order = {}});
  return out;
}

// The trial with whose outputs the others are compared.
const Trial* reference_trial(const std::vector<Trial>& trials) {
  const auto at = std::ranges::find_if(trials, [](const Trial& t) { return t.outcome.result.completed; });
  return at == trials.end() ? nullptr : &*at;
}

void compare(CheckReport& report, const Subject& subject, const RunRequest& request, Trial& trial) {
  const Trial* first = reference_trial(report.trials);
  const bool completed = trial.outcome.result.completed;
  trial.same_outputs = !completed || first == nullptr || first->output_hashes == trial.output_hashes;
  if (completed && request.reference && (first == nullptr || !trial.same_outputs))
    if (auto compared =
            compare_with_reference(subject, trial.outcome.outputs, !request.output.report.empty()))
      for (NamedComparison& c : *compared) report.reference.emplace_back(trial.schedule, std::move(c));
  if (completed && first != nullptr) trial.outcome.outputs.clear();  // 23 copies may be too many
}

std::string trial_text(const CheckReport& report, const Trial& trial) {
  const sim::RunResult& r = trial.outcome.result;
  const auto n = std::ranges::count_if(
      report.findings, [&](const SeenFinding& s) { return s.schedules.back() == trial.schedule; });
  std::string text = n == 0 ? "no findings" : fmt::format("{} finding{}", n, n == 1 ? "" : "s");
  if (r.interrupted) return text + ", interrupted";
  if (!r.completed) return text + ", not completed";
  return text + (trial.same_outputs ? ", the same outputs" : ", other outputs");
}

// A hang is classified from several runs together.
std::string replay_of(const CheckRequest& request, const Trial& trial) {
  const std::string checks = name(request.run.machine.checks);
  if (trial.hangs_by_letter() && request.explore)
    return replay_command(request.run, "check",
                          fmt::format("--check {} --explore {}", checks, *request.explore));
  return replay_command(request.run, "run", fmt::format("--check {} --schedule {}", checks, trial.schedule));
}

// A loop that is endless under one schedule would take as long under all others.
bool was_given_up(const Trial& trial) {
  return std::ranges::any_of(trial.outcome.result.findings,
                             [](const sim::Finding& f) { return f.code == "PLD3002"; });
}

Outcome<void> try_schedules(CheckSession& s) {
  const std::vector<Conditions> named = named_conditions(s.request);
  // The first run is recorded, for the verdict on all schedules and for the search.
  s.recorded = name(named.front());
  const bool record = s.request.explore || s.request.run.machine.checks.any() || s.report.page != nullptr;
  if (const auto ran = try_all(s, named, record ? &s.recorder : nullptr); !ran) return ran;
  s.report.decided = std::ranges::any_of(s.report.trials, &Trial::decides);
  const bool one = s.request.run.conditions.has_value();
  if (one) {
    s.report.seeds_skipped = false;
  } else if (std::ranges::any_of(s.report.trials, was_given_up)) {
    return {};
  } else if (s.report.decided) {
    s.report.seeds_skipped = s.request.seeds.value_or(usual_check_seeds) != 0;
  } else if (const auto ran = try_all(s, seeded_conditions(s.request)); !ran) {
    return ran;
  }
  if (!s.request.explore) return {};
  if (!one)
    if (const auto ran = try_freedoms(s); !ran) return ran;
  search_schedules(s);
  return {};
}

}  // namespace

bool Trial::decides() const { return watched && watched->decision && watched->decision->decided; }

bool Trial::hangs_by_letter() const {
  const sim::RunResult& r = outcome.result;
  return r.deadlocked && std::ranges::none_of(r.findings, [](const sim::Finding& f) {
           return f.fatal && f.severity != sim::FindingSeverity::strict;
         });
}

std::string replay_command(const RunRequest& request, std::string_view command, const std::string& more) {
  static constexpr std::string_view without[] = {"--explore", "--seeds", "--json",  "--sarif",
                                                 "--report",  "--limit", "--check", "--schedule"};
  return command_line(request.words, command, without, more);
}

namespace {

Trial try_one(const CheckSession& s, const Conditions& conditions, sim::check::SkeletonObserver* recorder) {
  Job job = s.subject.job;  // a kernel may write to its inputs
  std::vector<sim::Observer*> more;
  if (recorder != nullptr && s.report.page)
    for (sim::Observer* observer : s.report.page->observers()) more.push_back(observer);
  MachineRun run = run_on_machine(s.subject, job, s.request.run.machine, conditions, recorder, more);
  Trial trial{name(conditions), std::move(run.outcome), std::move(run.watched), {}};
  trial.output_hashes = hash_texts(trial.outcome.outputs);
  return trial;
}

// Runs that begin in their order, as many at once as there are host threads for, and are taken in that order
// while others still run. The first error of `take` ends them, and Ctrl-C.
class SideBySide {
 public:
  using Take = std::function<Outcome<void>(Trial)>;
  SideBySide(const CheckSession& s, std::span<const Conditions> conditions,
             sim::check::SkeletonObserver* recorder, Take take)
      : s_(s),
        conditions_(conditions),
        recorder_(recorder),
        take_(std::move(take)),
        ran_(conditions.size()) {}

  Outcome<void> run() {
    const unsigned threads = s_.request.run.machine.threads;
    sim::WorkerPool(threads).for_each(std::min({size_t{threads}, size_t{most_together}, conditions_.size()}),
                                      [&](size_t, unsigned) { work(); });
    return std::move(failed_);
  }

 private:
  void work() {
    for (size_t i; next(i);) {
      Trial trial = try_one(s_, conditions_[i], i == 0 ? recorder_ : nullptr);
      const std::lock_guard lock(mutex_);
      ran_[i].emplace(std::move(trial));
      while (failed_ && taken_ < ran_.size() && ran_[taken_]) {
        failed_ = take_(std::move(*ran_[taken_]));
        ran_[taken_++].reset();
      }
      room_.notify_all();
    }
  }

  // Results that wait for an earlier one hold their outputs: there are not many of them.
  bool next(size_t& i) {
    std::unique_lock lock(mutex_);
    i = begun_;
    room_.wait(lock,
               [&] { return !failed_ || begun_ < taken_ + 2 * most_together || begun_ == ran_.size(); });
    if (!failed_ || interrupted() || begun_ == ran_.size()) return false;
    i = begun_++;
    return true;
  }

  const CheckSession& s_;
  std::span<const Conditions> conditions_;
  sim::check::SkeletonObserver* recorder_;
  Take take_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::vector<std::optional<Trial>> ran_;
  size_t begun_ = 0, taken_ = 0;
  Outcome<void> failed_;
};

}  // namespace

std::vector<Trial> try_together(const CheckSession& s, std::span<const Conditions> conditions) {
  std::vector<Trial> trials;
  (void)SideBySide(s, conditions, nullptr, [&](Trial trial) {
    trials.push_back(std::move(trial));
    return Outcome<void>{};
  }).run();
  return trials;
}

Outcome<void> take_trial(CheckSession& s, Trial trial) {
  const sim::RunResult& result = trial.outcome.result;
  if (!result.errors.empty()) return failure_of(result.errors, s.subject.job.ptx);
  compare(s.report, s.subject, s.request.run, trial);
  merge_findings(s.report.findings, result.findings, trial.schedule, replay_of(s.request, trial));
  s.progress.pause();
  s.progress.step();
  print_out(row(trial.schedule, trial_text(s.report, trial)));
  s.report.trials.push_back(std::move(trial));
  return {};
}

Outcome<void> try_all(CheckSession& s, std::span<const Conditions> conditions,
                      sim::check::SkeletonObserver* recorder) {
  return SideBySide(s, conditions, recorder, [&](Trial trial) { return take_trial(s, std::move(trial)); })
      .run();
}

Outcome<CheckReport> run_check(Subject& subject, const CheckRequest& request) {
  const size_t schedules = request.run.conditions ? size_t{1} : 3 + request.seeds.value_or(usual_check_seeds);
  Progress progress(fmt::format("check {}", subject.name), schedules);
  CheckSession session{subject, request, {}, sim::check::SkeletonObserver(), {}, progress};
  CheckReport& report = session.report;
  report.races_checked = request.run.machine.checks.race;
  report.page = page_recording(subject, request.run);
  if (const auto ran = try_schedules(session); !ran) return tl::make_unexpected(ran.error());
  if (report.page) report.page->finish(nullptr);
  examine_values(session);
  sort_findings(report.findings);
  if (auto suppressions = request.run.findings.suppressions) {
    suppress(report.findings, *suppressions, subject.ptx_name);
    report.unused_suppressions = unused_text(*suppressions);
  }
  judge_check(report, request.run.findings.strict);
  return std::move(report);
}

}  // namespace palladion::cli
