// --explore: choices of the hardware that no schedule makes, then the search.
#include <fmt/format.h>

#include "cli/check/check_run.h"
#include "cli/support/output.h"
#include "cli/support/term.h"
#include "report/text/row.h"
#include "sim/explore/residency.h"

namespace palladion::cli {
namespace {

using sim::check::Conditions;
using sim::check::ResidencyLaunch;

ResidencyLaunch launch_of(CheckSession& s, const MachineRequest& unchecked) {
  const sim::RunResult& usual = s.report.trials.front().outcome.result;
  ResidencyLaunch launch;
  launch.ctas_per_cluster = s.subject.job.cluster.count();
  launch.clusters = s.subject.job.grid.count() / launch.ctas_per_cluster;
  launch.room = usual.resident_clusters;
  launch.completed = usual.completed;
  launch.ends_with = [&](uint64_t resident) {
    return !interrupted() && run_on_machine(s.subject, s.subject.job, unchecked,
                                            {.schedule = {}, .resident = resident, .order = {}})
                                 .outcome.result.completed;
  };
  return launch;
}

// All orders are run before any is judged.
Outcome<void> try_residency(CheckSession& s, const std::vector<Conditions>& orders,
                            const ResidencyLaunch& launch) {
  std::vector<Trial> trials = try_together(s, orders);
  std::vector<sim::check::ResidencyRun> runs;
  runs.reserve(trials.size());
  for (size_t i = 0; i < trials.size(); ++i) runs.push_back({orders[i], &trials[i].outcome.result});
  if (runs.size() == orders.size()) judge_residency(runs, launch);
  for (Trial& trial : trials)
    if (const auto ran = take_trial(s, std::move(trial)); !ran) return ran;
  return {};
}

}  // namespace

Outcome<void> try_freedoms(CheckSession& s) {
  if (const auto ran = try_all(s, sim::check::hostile_waits_and_leaders()); !ran) return ran;
  MachineRequest unchecked = s.request.run.machine;
  unchecked.checks = no_checks;
  const ResidencyLaunch launch = launch_of(s, unchecked);
  if (!launch.completed) return {};
  for (const auto& orders : sim::check::hostile_residencies(launch.clusters, launch.room))
    if (const auto ran = try_residency(s, orders, launch); !ran) return ran;
  return {};
}

void search_schedules(CheckSession& s) {
  if (interrupted()) return;
  s.report.explored =
      explore_run(s.recorder.recorded(), {.budget = *s.request.explore, .budget_after_problem = 20'000},
                  s.request.run.machine.threads);
  merge_findings(s.report.findings, s.report.explored->findings, std::string(exploration),
                 replay_command(s.request.run, "check",
                                fmt::format("--explore {} --schedule {}", *s.request.explore, s.recorded)));
  const size_t n = s.report.explored->findings.size();
  print_out(row(exploration, n == 0 ? "no findings" : fmt::format("{} finding{}", n, n == 1 ? "" : "s")));
}

}  // namespace palladion::cli
