// verify::mutate, called as a library.
#include "verify/mutate/mutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "tests/verify/twins.h"

namespace palladion::verify {
namespace {

using testing::ElementsAre;
using Why = NoMutation::Why;

tl::expected<MutationReport, NoMutation> mutate_twin(bool broken, const MutationRequest& request,
                                                     const Progress<MutationStep>& progress = {}) {
  const auto twin = twins(store).make(broken);
  return mutate(twin.job, kernels::zoo::chip_of(twin), request, progress);
}

TEST(Mutate, TheCheckersCatchWhatIsBroken) {
  size_t mutants = 0, done = 0;
  const auto report = mutate_twin(false, {.random = 1}, {.step = [&](const MutationStep& step) {
                                    mutants = step.mutants;
                                    EXPECT_EQ(step.done, done++);
                                  }});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->mutants.size(), mutants);
  EXPECT_EQ(done, mutants + 1);
  EXPECT_THAT(report->schedules, ElementsAre("functional", "latest", "earliest", "seeded:0",
                                             "then a search through all schedules"));
  EXPECT_EQ(report->count(MutantResult::not_run), 0U);
  EXPECT_EQ(report->survivors() + report->count(MutantResult::caught) + report->count(MutantResult::refused) +
                report->count(MutantResult::equivalent),
            mutants);
  EXPECT_FALSE(report->contradicted());
  const auto fence = std::ranges::find_if(report->mutants, [](const MutantOutcome& m) {
    return m.mutant.mutation == sim::check::Mutation::delete_proxy_fence;
  });
  ASSERT_NE(fence, report->mutants.end());
  EXPECT_EQ(fence->result, MutantResult::caught);
  EXPECT_EQ(fence->schedule, "functional");
  ASSERT_EQ(fence->codes.size(), 1U);
  EXPECT_EQ(fence->codes[0], twins(store).code);
}

TEST(Mutate, NothingFollowsFromAnOriginalWithFindings) {
  const auto report = mutate_twin(true, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().why, Why::has_findings);
}

TEST(Mutate, AStopLeavesMutantsThatWereNotRun) {
  std::atomic<bool> stop = false;
  const auto report =
      mutate_twin(false, {.random = 0, .threads = 1},
                  {.stop = &stop, .step = [&](const MutationStep& step) { stop = step.done == 1; }});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->interrupted);
  EXPECT_EQ(report->count(MutantResult::not_run), report->mutants.size() - 1);
  const auto none = mutate_twin(false, {}, {.stop = &stop});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().why, Why::interrupted);
}

}  // namespace
}  // namespace palladion::verify
