// Lanes that go around an instruction which the whole warp executes together, and end.
#include "tests/sim/check/checked.h"

namespace palladion::sim::testing {
namespace {

const Codes together = {}, barrier_in_part = {"PLD4606"}, collective_in_part = {"PLD4701"};
constexpr const char* store_out = R"(
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r1;
)";
constexpr const char* load_and_store_out = R"(
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  ld.global.u32 %r8, [%rd2];
  add.u32 %r8, %r8, 1;
  st.global.u32 [%rd2], %r8;
)";

// %r3 the lane, %p1 true in the lower half of each warp; each thread ends with a new value of its own word.
Codes bypass_codes(const std::string& body, const std::string& functions = {},
                   const std::string& end = load_and_store_out) {
  return codes_of(checked("  and.b32 %r3, %r1, 31;\n  setp.lt.u32 %p1, %r3, 16;\n" + body + end, {1, 1, 1},
                          {64, 1, 1}, 0, functions));
}

// `what` is executed by the lower half of each warp; the others go on behind it.
Codes of_lower_half(const std::string& what) {
  return bypass_codes("  @!%p1 bra AROUND;\n  " + what + "\nAROUND:");
}

TEST(Bypass, LanesGoAroundABarrier) {
  EXPECT_EQ(of_lower_half("bar.sync 0;"), barrier_in_part);
  EXPECT_EQ(of_lower_half("barrier.sync.aligned 0;"), barrier_in_part);
  EXPECT_EQ(of_lower_half("bar.sync 1, 64;"), barrier_in_part);
  EXPECT_EQ(of_lower_half("bar.red.popc.u32 %r4, 0, %p1;"), barrier_in_part);
  EXPECT_EQ(of_lower_half("bar.arrive 1, 64;"), barrier_in_part);
  EXPECT_EQ(bypass_codes("  @%p1 bar.sync 0;\n"), barrier_in_part) << "its own guard";
}

// Compilers make one store of `if (far) { *p = 0; return; } __syncthreads(); ... *p = x;`.
TEST(Bypass, LanesThatOnlyStoreBehindABarrierBreakTheTextAlone) {
  const std::string around = "  @!%p1 bra AROUND;\n  bar.sync 0;\nAROUND:";
  EXPECT_EQ(bypass_codes(around, {}, store_out), Codes{"PLD4606?"});
  EXPECT_EQ(bypass_codes(around, {}, std::string(store_out) + "  bar.sync 0;\n"), barrier_in_part)
      << "lanes meet there that another barrier has brought together";
  EXPECT_EQ(bypass_codes(around, {}, ""), together) << "nothing lies behind it: they have returned";
}

TEST(Bypass, TheFindingNamesTheBarrierAndTheBranch) {
  const RunResult r = checked(std::string("  and.b32 %r3, %r1, 31;\n  setp.lt.u32 %p1, %r3, 16;\n"
                                          "  @!%p1 bra AROUND;\n  bar.sync 0;\nAROUND:") +
                                  store_out,
                              {1, 1, 1}, {32, 1, 1});
  ASSERT_EQ(r.findings.size(), 1U);
  const Finding& f = r.findings[0];
  EXPECT_EQ(f.code, "PLD4606");
  ASSERT_EQ(f.sites.size(), 2U);
  EXPECT_EQ(f.sites[0].instruction, "bar.sync 0;");
  EXPECT_EQ(f.sites[0].lanes, 0x0000'ffffU);
  EXPECT_EQ(f.sites[1].instruction, "@!%p1 bra AROUND;");
  EXPECT_EQ(f.sites[1].lanes, 0xffff'0000U);
}

TEST(Bypass, LanesThatReturnInFrontOfABarrierAreNoMistake) {
  EXPECT_EQ(bypass_codes("  @!%p1 ret;\n  bar.sync 0;\n"), together);
  EXPECT_EQ(bypass_codes("  @!%p1 bra END;\n  bar.sync 0;\n" + std::string(store_out) + "END:\n  ret;\n"),
            together);
  EXPECT_EQ(bypass_codes("  @%p1 bra ON;\n" + std::string(store_out) + "  ret;\nON:\n  bar.sync 0;\n"),
            together)
      << "they store before they return";
  EXPECT_EQ(bypass_codes(R"(
  mov.u32 %r4, 0;
TOP:
  setp.ge.u32 %p2, %r4, %r3;
  @%p2 ret;
  setp.ne.u32 %p3, %r4, 20;
  @%p3 bra NEXT;
  bar.sync 0;
NEXT:
  add.u32 %r4, %r4, 1;
  bra TOP;
)"),
            together)
      << "they went around it when all lanes did";
}

TEST(Bypass, LanesThatLeaveALoopOfBarriersAreNoMistake) {
  EXPECT_EQ(bypass_codes(R"(
  mov.u32 %r4, 0;
TOP:
  setp.gt.u32 %p2, %r4, %r3;
  @%p2 bra LEFT;
  bar.sync 0;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, 8;
  @%p2 bra TOP;
LEFT:)"),
            together);
}

TEST(Bypass, InEveryPassOfALoop) {
  EXPECT_EQ(bypass_codes(R"(
  mov.u32 %r4, 0;
TOP:
  @!%p1 bra AROUND;
  bar.sync 0;
AROUND:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, 4;
  @%p2 bra TOP;
)"),
            barrier_in_part);
  EXPECT_EQ(of_lower_half(R"(mov.u32 %r4, 0;
TOP:
  bar.sync 0;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, 4;
  @%p2 bra TOP;)"),
            barrier_in_part)
      << "a loop of barriers for half of the warp";
}

TEST(Bypass, BranchesThatWholeWarpsTakeAreNoMistake) {
  EXPECT_EQ(bypass_codes("  setp.eq.u32 %p2, %r2, 0;\n  @%p2 bra AROUND;\n  bar.sync 1, 32;\nAROUND:"),
            together);
  EXPECT_EQ(bypass_codes(R"(
  setp.lt.u32 %p2, %r3, 8;
  @!%p2 bra AROUND;
  add.u32 %r4, %r3, 1;
AROUND:
  bar.sync 0;
)"),
            together)
      << "the lanes meet again in front of it";
}

TEST(Bypass, ABarrierThatIsNotAlignedCountsThreads) { EXPECT_EQ(of_lower_half("barrier.sync 0;"), together); }

TEST(Bypass, TheLanesBranchBehindTheBarrier) {
  EXPECT_EQ(bypass_codes(R"(
  @%p1 bra FAR;
BACK:)" + std::string(load_and_store_out) +
                         R"(
  ret;
FAR:
  bar.sync 0;
  bra BACK;
)"),
            barrier_in_part)
      << "the others have ended before these lanes arrive";
}

TEST(Bypass, InAFunction) {
  const std::string function = ".func f() {\n  bar.sync 0;\n  ret;\n}\n";
  EXPECT_EQ(bypass_codes("  @!%p1 bra AROUND;\n  call f;\nAROUND:", function), barrier_in_part);
  EXPECT_EQ(bypass_codes("  @%p1 call f;\n", function), barrier_in_part);
  EXPECT_EQ(bypass_codes("  @!%p1 ret;\n  call f;\n", function), together);
  const std::string early = R"(
.func f() {
  .reg .pred %q;
  .reg .b32 %lane;
  mov.u32 %lane, %laneid;
  setp.ge.u32 %q, %lane, 16;
  @%q bra OUT;
  bar.sync 0;
OUT:
  ret;
}
)";
  EXPECT_EQ(bypass_codes("  call f;\n", early), barrier_in_part)
      << "a return of a function is not the end of a thread";
}

TEST(Bypass, BySeveralWays) {
  EXPECT_EQ(bypass_codes(R"(
  and.b32 %r4, %r3, 1;
ways: .branchtargets WAY0, WAY1;
  brx.idx %r4, ways;
WAY0:
  bar.sync 0;
WAY1:)"),
            barrier_in_part);
}

TEST(Bypass, OtherInstructionsOfTheWholeWarp) {
  EXPECT_EQ(of_lower_half("bar.warp.sync -1;"), collective_in_part);
  EXPECT_EQ(of_lower_half("bar.warp.sync 0xffff;"), together) << "the others are not named";
  EXPECT_EQ(of_lower_half("vote.sync.any.pred %p2, %p1, -1;"), collective_in_part);
  EXPECT_EQ(of_lower_half("barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;"),
            collective_in_part);
}

}  // namespace
}  // namespace palladion::sim::testing
