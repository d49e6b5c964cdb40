#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/runs/checks.h"
#include "sim/launch/fault.h"
#include "tests/report/some_findings.h"

namespace palladion::cli {
namespace {

using testing::ElementsAre;
using Severity = sim::FindingSeverity;

std::vector<SeenFinding> seen_in(const std::vector<sim::Finding>& findings) {
  std::vector<SeenFinding> out;
  merge_findings(out, findings, "functional");
  return out;
}

TEST(Findings, SchedulesAreMergedAndTheFirstOneReplays) {
  std::vector<SeenFinding> all;
  merge_findings(all, {overwritten_tile()}, "functional", "replay functional");
  sim::Finding again = overwritten_tile();
  again.object.names[0].bytes = {{1024, 2048}};
  again.object.cta = isa::Dim3{0, 0, 0};
  again.sites[0].cta = {0, 0, 0};
  again.sites[1].occurrence = 9;
  merge_findings(all, {again, two_roles_wait()}, "latest", "replay latest");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0].schedules, ElementsAre("functional", "latest"));
  EXPECT_EQ(all[0].replay, "replay functional");
  EXPECT_EQ(all[0].finding.count, 64u) << "of the run that the replay shows";
  EXPECT_THAT(all[1].schedules, ElementsAre("latest"));
}

TEST(Findings, OtherPlacesObjectsAndCodesAreOtherMistakes) {
  const sim::Finding f = overwritten_tile();
  sim::Finding line = f, object = f, code = f;
  line.sites[0].source.line = 42;
  line.sites[1].source.line = 78;
  object.object.names[0].name = "b_smem";
  code.code = "PLD4308";
  for (const sim::Finding& other : {line, object, code}) EXPECT_EQ(seen_in({f, other}).size(), 2u);
  EXPECT_EQ(seen_in({f, f}).size(), 1u);
}

// Which of several races is met first depends on the schedule.
TEST(Findings, RacesOfOneMistakeAreOneWhicheverComesFirst) {
  const auto race = [](uint32_t writer, uint32_t reader) {
    sim::Finding f = overwritten_tile();
    for (sim::Site& s : f.sites) s.source = {};
    f.sites[0].ptx_line = writer;
    f.sites[1].ptx_line = reader;
    return f;
  };
  std::vector<SeenFinding> seen;
  merge_findings(seen, {race(20, 10), race(21, 11), race(22, 12)}, "functional");
  ASSERT_EQ(seen.size(), 1u) << "two stretches of the text";
  EXPECT_EQ(seen[0].finding.also.size(), 2u);
  merge_findings(seen, {race(22, 12)}, "latest");
  merge_findings(seen, {race(23, 12)}, "earliest");
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_THAT(seen[0].schedules, ElementsAre("functional", "latest", "earliest"));
  EXPECT_EQ(seen_in({race(20, 10), race(12, 15)}).size(), 2u) << "the accesses take turns";
}

// One mistake at a barrier is one finding, whichever instructions of one kind show it.
TEST(Findings, MisusesOfOneBarrierAreOne) {
  const auto arrival = [](uint32_t line, uint64_t barrier) {
    sim::Finding f = unaligned_branch();
    f.sites[0].ptx_line = line;
    f.object.number = barrier;
    return f;
  };
  const auto seen = seen_in({arrival(2, 2), arrival(5, 2), arrival(8, 3), arrival(9, 2)});
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].finding.also.size(), 2u);
  EXPECT_EQ(seen[0].finding.count, 3u);
  EXPECT_EQ(seen[1].finding.object.number, 3u);
}

// An mbarrier.init in a loop over a ring: one line, several mbarriers, in several CTAs.
TEST(Findings, ObjectsOfOneLineAreUnited) {
  const auto init = [](uint64_t slot, uint32_t cta) {
    sim::Finding f = unaligned_branch();
    f.code = "PLD4109";
    f.object = {.kind = sim::Object::Kind::mbarrier,
                .names = {{.name = "full", .index = slot, .bytes = {}}},
                .cta = isa::Dim3{cta, 0, 0}};
    return f;
  };
  const auto seen = seen_in({init(0, 0), init(1, 0), init(2, 1)});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].finding.object.names.size(), 3u);
  EXPECT_TRUE(seen[0].finding.object.several_ctas);
  EXPECT_TRUE(seen[0].finding.also.empty());
}

TEST(Findings, FaultsOfEveryCtaAreOne) {
  sim::Finding f = sim::fault(sim::Code::shared_bounds,
                              sim::say<sim::Phrase::outside_shared>("write", 4, 4096, 1024, 2048));
  f.sites = {site_of("a.cu", 3, "st.shared.u32 [%r1], 0;")};
  EXPECT_EQ(seen_in({f, f, f})[0].finding.count, 3u);
  sim::Finding other = f;
  other.sites[0].source.line = 4;
  EXPECT_EQ(seen_in({f, other}).size(), 2u);
}

TEST(Findings, ErrorsComeFirst) {
  auto all = seen_in({unaligned_branch(), overwritten_tile(), two_roles_wait()});
  sort_findings(all);
  EXPECT_EQ(all[0].finding.code, "PLD4307");
  EXPECT_EQ(all[2].finding.severity, Severity::strict);
}

TEST(Findings, ExitCodes) {
  const auto code = [](Severity severity, bool strict, bool suppressed = false) {
    SeenFinding seen{overwritten_tile(), {"functional"}, "", suppressed ? "known" : ""};
    seen.finding.severity = severity;
    return code_of_findings({&seen, 1}, strict);
  };
  EXPECT_EQ(code_of_findings({}, true), exit_clean);
  EXPECT_EQ(code(Severity::error, false), exit_findings);
  EXPECT_EQ(code(Severity::error, true, true), exit_clean);
  EXPECT_EQ(code(Severity::strict, false), exit_clean);
  EXPECT_EQ(code(Severity::strict, true), exit_findings);
  EXPECT_EQ(code(Severity::unknown, true), exit_unsupported);
  EXPECT_EQ(code(Severity::unsupported, false), exit_unsupported);
}

TEST(Findings, VerdictsNameTheWorst) {
  const auto verdict = [](std::vector<sim::Finding> findings, const std::vector<std::string>& reasons) {
    return verdict_of(seen_in(findings), reasons);
  };
  EXPECT_EQ(verdict({}, {}).word, Verdict::Word::clean);
  EXPECT_EQ(verdict({unaligned_branch()}, {}).word, Verdict::Word::strict);
  const Verdict stopped = verdict({unaligned_branch()}, {"the run was interrupted", "x"});
  EXPECT_EQ(stopped.word, Verdict::Word::incomplete);
  EXPECT_EQ(stopped.reason, "the run was interrupted; 1 more");
  EXPECT_EQ(verdict({overwritten_tile()}, {"the run was interrupted"}).word, Verdict::Word::errors);
  sim::Finding unknown = overwritten_tile();
  unknown.severity = Severity::unknown;
  EXPECT_EQ(verdict({unknown}, {}).word, Verdict::Word::incomplete);
}

TEST(Findings, WhatEveryScheduleShowsComesBeforeWhatFewDo) {
  std::vector<SeenFinding> all;
  merge_findings(all, {two_roles_wait(), overwritten_tile()}, "functional");
  merge_findings(all, {overwritten_tile()}, "latest");
  sort_findings(all);
  EXPECT_EQ(all[0].finding.code, "PLD4307");
}

TEST(Findings, DeadlocksAreOneWhoeverElseWaits) {
  sim::Finding more = two_roles_wait();
  more.sites.push_back(site_of("ring.cu", 50, "bar.sync 0;"));
  more.sites.back().wait.emplace().kind = sim::BlockedWait::Kind::cta_barrier;
  EXPECT_EQ(seen_in({two_roles_wait(), more}).size(), 1u);
  more.sites.front().source.line = 11;
  EXPECT_EQ(seen_in({two_roles_wait(), more}).size(), 2u);
}

}  // namespace
}  // namespace palladion::cli
