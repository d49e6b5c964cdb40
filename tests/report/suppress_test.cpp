#include "report/text/suppress.h"

#include <gtest/gtest.h>

#include "tests/report/some_findings.h"
#include "tests/support/golden.h"

namespace palladion::report {
namespace {

Suppressions parsed(std::string_view text) {
  auto all = parse_suppressions(text, "let_be.txt");
  EXPECT_TRUE(all) << (all ? "" : isa::render(all.error()));
  return all ? *all : Suppressions{};
}

// The reason that the finding is accepted for, or "reported".
std::string result_of(const std::string& line, const sim::Finding& finding = overwritten_tile()) {
  std::vector<SeenFinding> all = {{finding, {"functional"}, "", ""}};
  Suppressions suppressions = parsed(line);
  suppress(all, suppressions, "ptx/ring.ptx");
  EXPECT_EQ(suppressions.all.front().used, all[0].is_suppressed());
  return all[0].is_suppressed() ? all[0].suppressed : "reported";
}

TEST(Suppress, ByCodeAndPlace) {
  EXPECT_EQ(result_of("PLD4307 kernels/gemm.cpp:41  # drained before"), "drained before");
  EXPECT_EQ(result_of("PLD4307 kernels/gemm.cpp:77 # the other site"), "the other site");
  EXPECT_EQ(result_of("PLD4307 kernels/gemm.cpp:42 # another line"), "reported");
  EXPECT_EQ(result_of("PLD4308 kernels/gemm.cpp:41 # another code"), "reported");
  EXPECT_EQ(result_of("PLD43* kernels/gemm.cpp # any copy, any line"), "any copy, any line");
}

TEST(Suppress, EveryPlaceMustBeThere) {
  EXPECT_EQ(result_of("PLD4307 kernels/gemm.cpp:41, kernels/gemm.cpp:77 # both"), "both");
  EXPECT_EQ(result_of("PLD4307 kernels/gemm.cpp:41,kernels/gemm.cpp:78 # one is elsewhere"), "reported");
}

TEST(Suppress, FilesMayBeGlobsAndEndsOfPaths) {
  EXPECT_EQ(result_of("PLD4307 gemm.cpp:41 # its name"), "its name");
  EXPECT_EQ(result_of("PLD4307 *.cpp # a glob"), "a glob");
  EXPECT_EQ(result_of("PLD4307 emm.cpp # half a name"), "reported");
  EXPECT_EQ(result_of("PLD4307 /gemm.cpp # another root"), "reported");
}

TEST(Suppress, WithoutSourcesTheLinesOfThePtxCount) {
  EXPECT_EQ(result_of("PLD4607 ring.ptx:2 # aligned", unaligned_branch()), "aligned");
  EXPECT_EQ(result_of("PLD4607 ring.ptx:3 # aligned", unaligned_branch()), "reported");
}

TEST(Suppress, CommentsAndEmptyLinesAreNothing) {
  EXPECT_TRUE(parsed("").all.empty());
  EXPECT_TRUE(parsed("# a title\n\n   \r\n").all.empty());
  EXPECT_EQ(parsed("# a title\nPLD4307 a.cpp # why\n").all.front().line, 2u);
}

TEST(Suppress, UnusedOnesAreNamed) {
  std::vector<SeenFinding> all = {{overwritten_tile(), {"functional"}, "", ""}};
  Suppressions suppressions = parsed("PLD4307 gemm.cpp # a\nPLD4307 *.cpp:77 # b\nPLD4401 gemm.cpp # c\n");
  suppress(all, suppressions, "");
  EXPECT_EQ(all[0].suppressed, "a") << "the first one that fits";
  EXPECT_EQ(unused_text(suppressions),
            "warning: let_be.txt:3: this suppression of PLD4401 met no finding (c)\n");
}

TEST(Suppress, EveryBadLineIsToldWithItsNumber) {
  const auto wrong = parse_suppressions(
      "PLD4307 a.cpp:41\nPLD4307 a.cpp:41 #\nPLD9999 a.cpp # no such code\nPLD99* a.cpp # none begins so\n"
      "PLD4307 # no place\nPLD4307 a.cpp: # no line\nPLD4307 a.cpp:0 # line 0\nPLD4307 :4 # no file\n"
      "PLD4307 a.cpp,,b.cpp # nothing between\n4307 a.cpp # the whole code\nPLD4307 a.cpp # good\n",
      "let_be.txt");
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(golden::compare("cli/suppressions.txt", isa::render(wrong.error())));
}

}  // namespace
}  // namespace palladion::report
