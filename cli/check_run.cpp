#include "cli/check_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/term.h"

namespace palladion::cli {
namespace {

using Kind = sim::Schedule::Kind;
constexpr unsigned usual_seeds = 20;

// The hostile ones of which a single run is often enough; or the one that the user names.
std::vector<sim::Schedule> named_schedules(const Options& options) {
  if (!options.schedule.empty()) return {*schedule_of(options)};
  return {{Kind::functional, 0}, {Kind::latest, 0}, {Kind::earliest, 0}};
}

std::vector<sim::Schedule> seeded_schedules(const Options& options) {
  std::vector<sim::Schedule> out;
  if (!options.schedule.empty()) return out;
  for (unsigned i = 0; i < options.seeds.value_or(usual_seeds); ++i)
    out.push_back({Kind::seeded, options.seed + i});
  return out;
}

std::string replay_command(const Options& options, const std::string& schedule) {
  static constexpr std::string_view without[] = {"--explore", "--seeds", "--json",    "--sarif",
                                                 "--limit",   "--check", "--schedule"};
  const std::string checks = options.check.empty() ? "all" : options.check;
  return command_line(options, "run", without, fmt::format("--check {} --schedule {}", checks, schedule));
}

// The trial whose outputs the others are compared with.
const Trial* reference_trial(const std::vector<Trial>& trials) {
  const auto at = std::ranges::find_if(trials, [](const Trial& t) { return t.outcome.result.completed; });
  return at == trials.end() ? nullptr : &*at;
}

void compare(CheckReport& report, const Subject& subject, const Options& options, Trial& trial) {
  for (const kernels::Array& array : trial.outcome.outputs) trial.output_hashes.push_back(hash_text(array));
  const Trial* first = reference_trial(report.trials);
  const bool completed = trial.outcome.result.completed;
  trial.same_outputs = !completed || first == nullptr || first->output_hashes == trial.output_hashes;
  if (completed && options.reference && (first == nullptr || !trial.same_outputs))
    for (NamedComparison& c : compare_with_reference(subject, trial.outcome.outputs))
      report.reference.emplace_back(trial.schedule, std::move(c));
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

Outcome<void> try_schedule(CheckReport& report, Subject& subject, const Options& options,
                           const sim::Schedule& schedule) {
  MachineRun run = run_on_machine(subject, options, schedule);
  Trial trial{sim::name(schedule), std::move(run.outcome), std::move(run.watched), {}};
  const sim::RunResult& result = trial.outcome.result;
  if (!result.errors.empty()) return failure_of(result.errors, subject.job.ptx);
  compare(report, subject, options, trial);
  merge_findings(report.findings, result.findings, trial.schedule, replay_command(options, trial.schedule));
  fmt::print("{}", row(trial.schedule, trial_text(report, trial)));
  std::fflush(stdout);
  report.trials.push_back(std::move(trial));
  return {};
}

std::vector<std::string> reasons_of(const CheckReport& report) {
  std::vector<std::string> all;
  for (const Trial& t : report.trials)
    for (const std::string& reason : incomplete_reasons(t.outcome.result, t.watched ? &*t.watched : nullptr))
      if (std::ranges::find(all, reason) == all.end()) all.push_back(reason);
  return all;
}

// Without a reference, outputs that depend on the schedule tell of a race; where races are checked, of
// atomics in another order.
bool wrong_outputs(const CheckReport& report) {
  if (!report.reference.empty())
    return std::ranges::any_of(report.reference, [](const auto& c) { return !c.second.comparison.ok(); });
  return !report.races_checked &&
         std::ranges::any_of(report.trials, [](const Trial& t) { return !t.same_outputs; });
}

void judge(CheckReport& report, const Options& options) {
  const std::vector<std::string> reasons = reasons_of(report);
  report.verdict = verdict_of(report.findings, reasons);
  report.exit_code = code_of_findings(report.findings, options.strict);
  if (report.exit_code == exit_findings) return;
  const auto any = [&](auto test) { return std::ranges::any_of(report.trials, test); };
  if (wrong_outputs(report)) {
    report.verdict = {Verdict::Word::errors, report.reference.empty() ? "outputs depend on the schedule"
                                                                      : "outputs differ from the reference"};
    report.exit_code = exit_findings;
  } else if (any([](const Trial& t) { return t.outcome.result.interrupted; })) {
    report.exit_code = exit_interrupted;
  } else if (any([](const Trial& t) { return !t.outcome.result.completed; }) &&
             report.exit_code == exit_clean) {
    report.exit_code = exit_findings;
  } else if (!reasons.empty()) {
    report.exit_code = exit_unsupported;
  }
}

}  // namespace

// A run that stopped at a fault says nothing about what would have come.
bool Trial::decides() const {
  const sim::RunResult& r = outcome.result;
  const bool deadlock =
      std::ranges::any_of(r.findings, [](const sim::Finding& f) { return is_wait_graph(f); });
  return watched && watched->forced && watched->coverage.incomplete.empty() && (r.completed || deadlock);
}

Outcome<CheckReport> run_check(Subject& subject, const Options& options) {
  auto suppressions = suppressions_of(options);
  if (!suppressions) return tl::make_unexpected(suppressions.error());
  CheckReport report;
  report.races_checked = checks_of(options)->race;
  const auto run_all = [&](const std::vector<sim::Schedule>& schedules) -> Outcome<void> {
    for (const sim::Schedule& schedule : schedules) {
      if (interrupted()) break;
      if (const auto ran = try_schedule(report, subject, options, schedule); !ran) return ran;
    }
    return {};
  };
  if (const auto ran = run_all(named_schedules(options)); !ran) return tl::make_unexpected(ran.error());
  report.decided = std::ranges::any_of(report.trials, &Trial::decides);
  report.seeds_skipped = report.decided && !options.seeds && options.schedule.empty();
  if (!report.seeds_skipped)
    if (const auto ran = run_all(seeded_schedules(options)); !ran) return tl::make_unexpected(ran.error());
  sort_findings(report.findings);
  if (*suppressions) {
    suppress(report.findings, **suppressions, subject.ptx_name);
    report.unused_suppressions = unused_text(**suppressions);
  }
  judge(report, options);
  return report;
}

}  // namespace palladion::cli
