// The zoo's good twins: what is right is right under all schedules, and the explorer says so. Where it says
// that phases are forced, other schedules of the machine must give the same skeleton.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/zoo/zoo.h"
#include "report/text/finding_text.h"
#include "sim/explore/forced.h"
#include "sim/explore/report.h"
#include "verify/launch/runner.h"

namespace palladion::tests {
namespace {

using namespace sim::check;

// Hashes of the skeletons of a run, ascending.
std::vector<uint64_t> hashes(const SkeletonObserver& observer) {
  std::vector<uint64_t> out;
  for (const auto& r : observer.recorded()) out.push_back(r.skeleton.structural_hash());
  std::ranges::sort(out);
  return out;
}

std::unique_ptr<SkeletonObserver> record(const kernels::zoo::Pair& pair, const char* schedule) {
  auto observer = std::make_unique<SkeletonObserver>();
  kernels::zoo::Specimen specimen = pair.make(false);
  sim::Machine machine(kernels::zoo::chip_of(specimen));
  const sim::RunResult r =
      palladion::run(specimen.job, machine,
                     {.schedule = *sim::schedule_named(schedule), .observer = observer.get()})
          .result;
  EXPECT_TRUE(r.completed) << pair.name << " under " << schedule;
  return observer;
}

TEST(ExploreZoo, good_twins_are_right_under_all_schedules) {
  uint64_t forced = 0, skeletons = 0;
  for (const kernels::zoo::Pair& pair : kernels::zoo::all_pairs()) {
    SCOPED_TRACE(pair.name);
    const auto observer = record(pair, "functional");
    const ExploreReport report = explore_run(observer->recorded());
    EXPECT_TRUE(report.all_schedules) << report.verdict << "; " << report.coverage;
    for (const sim::Finding& f : report.findings)
      EXPECT_EQ(f.severity, sim::FindingSeverity::strict) << report::finding_text(f);
    forced += report.forced;
    skeletons += report.skeletons;
  }
  EXPECT_GT(forced * 10, skeletons * 9);
}

TEST(ExploreZoo, forced_skeletons_are_the_same_in_other_schedules) {
  uint64_t compared = 0;
  for (const kernels::zoo::Pair& pair : kernels::zoo::all_pairs()) {
    SCOPED_TRACE(pair.name);
    const auto observer = record(pair, "functional");
    const bool forced = std::ranges::all_of(observer->recorded(), [](const auto& r) {
      return r.skeleton.frozen.empty() && decide_forced(r.skeleton).forced;
    });
    if (!forced) continue;
    ++compared;
    for (const char* schedule : {"latest", "seeded:1", "seeded:2"})
      EXPECT_EQ(hashes(*record(pair, schedule)), hashes(*observer)) << schedule;
  }
  EXPECT_GT(compared, 100U);
}

}  // namespace
}  // namespace palladion::tests
