#include "report/text/finding_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "report/run/run_text.h"
#include "tests/report/some_findings.h"
#include "tests/support/golden.h"

namespace palladion::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<SeenFinding> seen_in(const std::vector<sim::Finding>& findings) {
  std::vector<SeenFinding> out;
  merge_findings(out, findings, "functional");
  return out;
}

TEST(FindingText, Golden) {
  auto all = seen_in({overwritten_tile(), two_roles_wait(), unaligned_branch()});
  for (const char* more : {"latest", "earliest", "seeded:0", "seeded:1"}) all[0].schedules.emplace_back(more);
  for (SeenFinding& s : all) s.replay = "palladion run gemm --check all --schedule functional";
  FindingView view = plain_view();
  view.schedules = 23;
  EXPECT_TRUE(golden::compare("cli/findings.txt", findings_text(all, view)));
}

TEST(FindingText, OfThousandsTheRestIsCounted) {
  std::vector<sim::Finding> many;
  for (uint32_t line = 1; line <= 3000; ++line) {
    many.push_back(overwritten_tile());
    for (sim::Site& site : many.back().sites) site.source.line += line;
    many.back().object.names[0].name += std::to_string(line);
    many.back().count = 2;
  }
  many.push_back(unaligned_branch());
  auto all = seen_in(many);
  all[1].suppressed = "known";
  FindingView view = plain_view();
  view.limit = 2;
  const std::string text = findings_text(all, view);
  EXPECT_THAT(text, HasSubstr("2998 findings not shown: --limit 3000 shows all\n"));
  EXPECT_THAT(text, HasSubstr("PLD4307 error    2999 findings, 1 suppressed, 6000 times: "));
  EXPECT_THAT(text, HasSubstr("PLD4607 strict   1 finding, 1 time: "));
  EXPECT_THAT(text, HasSubstr("gemm.cpp:44\n"));
  EXPECT_THAT(text, Not(HasSubstr("gemm.cpp:43\n"))) << "suppressed";
}

TEST(FindingText, ColourOnlyWhereItIsTaken) {
  const auto all = seen_in({overwritten_tile(), two_roles_wait()});
  FindingView view = plain_view();
  EXPECT_THAT(findings_text(all, view), Not(HasSubstr("\x1b[")));
  view.color = true;
  EXPECT_THAT(findings_text(all, view), HasSubstr("\x1b[31merror[PLD4307]\x1b[0m"));
}

TEST(FindingText, FilesThatAreNotThereLeaveTheInstruction) {
  sim::Finding f = overwritten_tile();
  f.sites[0].source.file = "/nowhere/at/all.cpp";
  const std::string text = finding_text(seen_in({f})[0], {});
  EXPECT_THAT(text, HasSubstr("--> /nowhere/at/all.cpp:41\n      | cp.async.bulk.tensor"));
  EXPECT_EQ(read_source_line(PLD_SOURCE_DIR "/tests/report/finding_text_test.cpp", 1),
            "#include \"report/text/finding_text.h\"");
  EXPECT_EQ(read_source_line(PLD_SOURCE_DIR "/tests/report/finding_text_test.cpp", 1'000'000), "");
}

// What stands in the file now may not be what was compiled.
TEST(FindingText, AFileThatWasWrittenDuringTheRunIsMarked) {
  namespace fs = std::filesystem;
  const fs::path file = fs::path(testing::TempDir()) / "edited_during_the_run.cpp";
  std::ofstream(file) << "int one;\nint two;\n";
  sim::Finding f = overwritten_tile();
  f.sites[0].source = {file.string(), 2, 1};
  fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::seconds(1));
  EXPECT_THAT(finding_text(seen_in({f})[0], {}), HasSubstr("the file was written after this run began"));
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_THAT(finding_text(seen_in({f})[0], {}), Not(HasSubstr("was written after")));
  fs::remove(file);
}

// A wait in a helper of the author's, which a kernel calls, through a wrapper of CUDA's.
sim::Finding inlined_wait() {
  sim::Finding f = unaligned_branch();
  f.kernel = "_ZN2ns4gemmIiEEvPT_";
  f.sites[0].source = {"ring.h", 30, 1};
  f.sites[0].frames = {{{"/usr/local/cuda/include/cuda/std/barrier", 90, 2}, "_ZN4cuda4waitEi"},
                       {{"ring.h", 30, 1}, "_ZN4ring4wait"},
                       {{"gemm.cu", 7, 3}, ""}};
  return f;
}

TEST(FindingText, TheOtherFramesAreNotes) {
  const std::string text = finding_text(inlined_wait());
  EXPECT_THAT(text, HasSubstr("  --> ring.h:30 (PTX line 2)\n"));
  EXPECT_THAT(text,
              HasSubstr("      = inlined from `cuda::wait` (barrier:90)\n      = inlined into gemm.cu:7\n"));
  EXPECT_THAT(text, Not(HasSubstr("= kernel:"))) << "the line says it";
}

TEST(FindingText, WithoutALineItNamesTheKernel) {
  sim::Finding f = inlined_wait();
  f.sites[0].source = {};
  f.sites[0].frames.clear();
  EXPECT_THAT(finding_text(f), HasSubstr("   = kernel: `ns::gemm<int>`\n"));
}

// tcgen05.ld of 128 columns names 128 registers.
TEST(FindingText, LongInstructionsAreCut) {
  sim::Finding f = unaligned_branch();
  f.sites.front().instruction = "tcgen05.ld {" + std::string(2000, 'r') + "}, [%r1];";
  const std::string text = finding_text({.finding = f, .schedules = {}, .replay = {}, .suppressed = {}}, {});
  EXPECT_THAT(text, HasSubstr("tcgen05.ld {rrr"));
  EXPECT_LT(text.size(), 1000u);
}

TEST(FindingText, WhatTheSearchFoundSaysSo) {
  SeenFinding seen;
  seen.finding.code = "PLD4909";
  seen.schedules = {std::string(exploration)};
  FindingView view;
  view.schedules = 3;
  EXPECT_THAT(finding_text(seen, view),
              testing::HasSubstr("seen: by exploration, under none of 3 schedules\n"));
  seen.schedules = {"functional", "latest", "earliest", std::string(exploration)};
  EXPECT_THAT(finding_text(seen, view),
              testing::HasSubstr("seen: under all 3 schedules, and by exploration\n"));
  seen.schedules = {"latest", std::string(exploration)};
  EXPECT_THAT(finding_text(seen, view),
              testing::HasSubstr("seen: under latest (1 of 3 schedules), and by exploration\n"));
}

TEST(FindingText, OneRunSaysNothingOfSchedules) {
  SeenFinding seen;
  seen.finding.count = 4;
  seen.schedules = {"functional"};
  EXPECT_EQ(FindingView{}.schedules, 1U);
  EXPECT_THAT(finding_text(seen, {}), testing::HasSubstr("seen: 4 times\n"));
}

TEST(CheckText, CoverageIsOneLine) {
  sim::check::Coverage c;
  c.accesses = 1;
  c.async_operations = 64;
  c.forced_phases = 3;
  c.unforced_phases = 1;
  EXPECT_EQ(coverage_text(c),
            "1 access, 64 asynchronous operations, 4 mbarrier phases (75 % forced), 0 barrier generations");
}

}  // namespace
}  // namespace palladion::report
