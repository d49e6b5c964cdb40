// verify::check, called as a library: a right kernel, a broken one, one that hangs, one that is interrupted.
#include "verify/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "tests/verify/twins.h"

namespace palladion::verify {
namespace {

using testing::ElementsAre;
using Severity = sim::FindingSeverity;
using Word = Verdict::Word;

std::vector<std::string> schedules_of(const CheckReport& report) {
  std::vector<std::string> out;
  for (const Trial& trial : report.trials) out.push_back(trial.schedule);
  return out;
}

// Of `store`: out = 2 in + 1.
Array wanted_store() {
  std::vector<float> values;
  for (int i = 0; i < 128; ++i) values.push_back(float(2 * i + 1));
  return from_floats({pl::f32, {128}}, values);
}

CompareOutputs against(const Job& job, Array wanted) {
  return [&job, wanted = std::vector{std::move(wanted)}](const std::vector<Array>& outputs) {
    return compare_outputs(job, outputs, wanted);
  };
}

TEST(Check, OneRunOfARightKernelDecidesForAllSchedules) {
  const auto twin = twins(store).make(false);
  const auto report = check_twin(twin, {.compare = against(twin.job, wanted_store())});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict.word, Word::clean) << report->verdict.reason;
  EXPECT_TRUE(report->findings.empty());
  EXPECT_TRUE(report->incomplete.empty());
  EXPECT_TRUE(report->decided && report->others_skipped && report->races_checked);
  EXPECT_THAT(schedules_of(*report), ElementsAre("functional"));
  EXPECT_FALSE(report->outputs_vary());
  ASSERT_EQ(report->reference.size(), 1U) << "of the first trial alone: the others' outputs are the same";
  EXPECT_TRUE(report->reference[0].output.comparison.bits_equal);
  EXPECT_EQ(report->reference[0].output.output, "out");
  EXPECT_EQ(report->trials[0].outcome.outputs.size(), 1U);
  EXPECT_GT(report->trials[0].watched->coverage.accesses, 0U);
}

// Nothing is found and all schedules are decided, but updates take place in their order: outputs are
// compared.
TEST(Check, UpdatesOfMemoryAreComparedBetweenSchedules) {
  const isa::Module module = isa::parse(R"(.version 8.8
.target sm_90a
.address_size 64
.visible .entry most(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  red.global.max.u32 [%rd1], %r1;
  ret;
}
)")
                                 .value();
  Job job;
  job.module = &module;
  job.entry = "most";
  job.grid = {64, 1, 1};
  job.cluster = job.block = {1, 1, 1};
  job.buffers = {{.name = "out",
                  .role = Role::inout,
                  .type = {pl::u32, {1}},
                  .initial = Array({pl::u32, {1}}),
                  .variable = {}}};
  job.params = {PointerValue{0}};
  const auto report = check(job, isa::default_arch());
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->decided && report->findings.empty()) << report->verdict.reason;
  EXPECT_THAT(schedules_of(*report), ElementsAre("functional", "latest", "earliest"));
}

TEST(Check, OutputsThatDifferFromTheReferenceAreErrors) {
  const auto twin = twins(store).make(false);
  const auto report = check_twin(twin, {.compare = against(twin.job, Array({pl::f32, {128}}))});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict.word, Word::errors);
  EXPECT_TRUE(report->wrong_outputs());
  EXPECT_EQ(report->reference[0].output.comparison.outside, 128);
}

TEST(Check, AMistakeIsOneFindingOfAllSchedules) {
  const auto& pair = twins(store);
  const auto report = check_twin(pair.make(true));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict.word, Word::errors);
  ASSERT_EQ(report->findings.size(), 1U);
  EXPECT_EQ(report->findings[0].finding.code.name(), pair.code);
  EXPECT_EQ(report->findings[0].schedules, schedules_of(*report));
}

TEST(Check, ChecksThatAreOffFindNothing) {
  const auto report = check_twin(twins(store).make(true), {.checks = no_checks, .random = 2});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict.word, Word::clean);
  EXPECT_FALSE(report->decided);
  EXPECT_THAT(schedules_of(*report), ElementsAre("functional", "latest", "earliest", "seeded:0", "seeded:1"));
  EXPECT_FALSE(report->trials[0].watched);
}

TEST(Check, OneScheduleAlone) {
  const auto report =
      check_twin(twins(store).make(false), {.only = sim::check::conditions_named("seeded:7,resident=1")});
  ASSERT_TRUE(report);
  EXPECT_THAT(schedules_of(*report), ElementsAre("seeded:7,resident=1"));
}

TEST(Check, AHangIsFoundUnderEverySchedule) {
  const auto& pair = twins("deadlock-conditional-arrival");
  const auto report = check_twin(pair.make(true));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict.word, Word::errors);
  EXPECT_TRUE(report->hangs());
  EXPECT_EQ(report->first_completed(), nullptr);
  EXPECT_TRUE(std::ranges::any_of(report->findings, [&](const SeenFinding& s) {
    return s.finding.code.name() == pair.code && s.schedules.size() == report->trials.size();
  }));
  const auto first = check_twin(pair.make(true), {.stop_at_problem = true, .together = 1});
  ASSERT_TRUE(first);
  EXPECT_THAT(schedules_of(*first), ElementsAre("functional"));
}

TEST(Check, ALaunchThatTheMachineRefusesIsNoReport) {
  auto twin = twins(store).make(false);
  twin.job.block = {4096, 1, 1};
  const auto report = check_twin(twin);
  ASSERT_FALSE(report);
  EXPECT_FALSE(report.error().empty());
}

TEST(Check, AStopEndsItWithWhatIsKnown) {
  const auto twin = twins(store).make(true);
  std::atomic<bool> stop = false;
  const auto report = check_twin(
      twin, {.explore = 1000, .together = 1},
      {.stop = &stop, .step = [&](const CheckReport& so_far) { stop = so_far.trials.size() == 2; }});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->interrupted);
  EXPECT_EQ(report->verdict.word, Word::interrupted);
  EXPECT_THAT(schedules_of(*report), ElementsAre("functional", "latest"));
  EXPECT_EQ(report->findings.size(), 1U) << "of the runs until then";
  EXPECT_FALSE(report->explored);
  const auto none = check_twin(twin, {.explore = 1000}, {.stop = &stop});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->trials.empty());
  EXPECT_EQ(none->verdict.word, Word::interrupted);
}

TEST(Check, StepsComeInTheOrderOfTheSchedules) {
  for (const unsigned together : {1U, 8U}) {
    std::vector<std::string> steps;
    const auto report = check_twin(
        twins(store).make(false), {.checks = no_checks, .random = 12, .together = together},
        {.step = [&](const CheckReport& so_far) { steps.push_back(so_far.trials.back().schedule); }});
    ASSERT_TRUE(report);
    EXPECT_EQ(steps.size(), 15U);
    EXPECT_EQ(steps, schedules_of(*report));
  }
}

TEST(Check, ErrorsAboutValuesThatNoOutputDependsOnAreStrict) {
  const auto verdict = [](bool keep, bool other_values) {
    const Halo halo(keep);
    const auto report = check(halo.job, isa::default_arch(), {.other_values = other_values});
    EXPECT_EQ(report->findings.size(), 1U);
    return report->verdict.word;
  };
  EXPECT_EQ(verdict(false, true), Word::strict);
  EXPECT_EQ(verdict(false, false), Word::errors);
  EXPECT_EQ(verdict(true, true), Word::errors);
}

TEST(Check, TheSearchCoversAllSchedules) {
  const auto report = check_twin(twins(store).make(false), {.explore = 10'000});
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->explored);
  EXPECT_TRUE(report->explored->all_schedules);
  EXPECT_GT(report->trials.size(), 3U) << "waits that give up, other leaders, other residencies";
  EXPECT_EQ(report->verdict.word, Word::clean) << report->verdict.reason;
}

TEST(Check, FewerResidentCtasAreTriedWithTheSearch) {
  const auto& pair = twins("deadlock-launch-order");
  const auto found = [&](const auto& report) {
    return std::ranges::any_of(report->findings, [&](const SeenFinding& s) {
      return s.finding.code.name() == pair.code && s.finding.severity == pair.severity;
    });
  };
  const auto without = check_twin(pair.make(true)), with = check_twin(pair.make(true), {.explore = 1000});
  ASSERT_TRUE(without && with);
  EXPECT_FALSE(found(without));
  EXPECT_TRUE(found(with));
}

TEST(Check, TheVerdictFollowsSuppressedFindings) {
  auto report = check_twin(twins(store).make(true));
  ASSERT_TRUE(report);
  report->findings[0].suppressed = "known";
  judge(*report);
  EXPECT_EQ(report->verdict.word, Word::clean);
}

TEST(Watch, OneObserverIsGivenAsItIs) {
  sim::check::SkeletonObserver other;
  sim::Observer* const others[] = {&other};
  EXPECT_EQ(Watch(no_checks).observer(), nullptr);
  EXPECT_EQ(Watch(no_checks, others).observer(), &other);
  Watch both({}, others);
  EXPECT_NE(both.observer(), nullptr);
  EXPECT_NE(both.observer(), &other);
  EXPECT_NE(both.coverage(), nullptr);
}

}  // namespace
}  // namespace palladion::verify
