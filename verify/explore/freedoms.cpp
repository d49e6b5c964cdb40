#include "verify/explore/freedoms.h"

#include <algorithm>

#include "sim/explore/residency.h"

namespace palladion::verify {
namespace {

using sim::check::Conditions;
using sim::check::ResidencyLaunch;

ResidencyLaunch launch_of(const TrialSetup& setup, const sim::RunResult& usual) {
  ResidencyLaunch launch;
  launch.ctas_per_cluster = setup.job.cluster.count();
  launch.clusters = setup.job.grid.count() / launch.ctas_per_cluster;
  launch.room = usual.resident_clusters;
  launch.completed = usual.completed;
  TrialSetup unchecked = setup;
  unchecked.checks = no_checks;
  launch.ends_with = [unchecked](uint64_t resident) {
    return !stopped(unchecked.run) &&
           try_under(unchecked, {.schedule = {}, .resident = resident, .order = {}}).outcome.result.completed;
  };
  return launch;
}

// All orders are run before any is judged.
bool try_residency(const TrialSetup& setup, const std::vector<Conditions>& orders,
                   const ResidencyLaunch& launch, unsigned together, const TakeTrial& take) {
  std::vector<Trial> trials;
  try_all(setup, orders, together, [&](Trial trial) {
    trials.push_back(std::move(trial));
    return true;
  });
  std::vector<sim::check::ResidencyRun> runs;
  runs.reserve(trials.size());
  for (size_t i = 0; i < trials.size(); ++i) runs.push_back({orders[i], &trials[i].outcome.result});
  if (runs.size() == orders.size()) judge_residency(runs, launch);
  return std::ranges::all_of(trials, [&](Trial& trial) { return take(std::move(trial)); });
}

}  // namespace

bool try_freedoms(const TrialSetup& setup, const sim::RunResult& usual, unsigned together,
                  const TakeTrial& take) {
  const ResidencyLaunch launch = launch_of(setup, usual);
  if (!try_all(setup, sim::check::hostile_waits_and_leaders(), together, take)) return false;
  if (!launch.completed) return true;
  return std::ranges::all_of(
      sim::check::hostile_residencies(launch.clusters, launch.room),
      [&](const auto& orders) { return try_residency(setup, orders, launch, together, take); });
}

}  // namespace palladion::verify
