// Lanes of a warp that act apart, or meet without an order of memory: what shipped kernels rely on is strict,
// beside the mistakes that it looks like.
#include <gmock/gmock.h>

#include <algorithm>

#include "report/text/finding_text.h"
#include "tests/sim/check/checked.h"
#include "tests/sim/check/protocol_run.h"

namespace palladion::sim::testing {
namespace {

// Lanes 0 and 1 of two warps arrive at two mbarriers by one instruction; a wait for the one orders both.
TEST(Lanes, ArrivalsOfOneInstructionAreOneStep) {
  const std::string round = "  @%p4 mbarrier.arrive.shared.b64 _, [%r4];\n";
  const std::string answer = "  mbarrier.arrive.shared.b64 _, [full];\n";
  const auto body = [&](const std::string& meet) {
    return R"(
  .shared .align 8 .b64 other;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra MADE;
  mbarrier.init.shared.b64 [other], 2;
MADE:
  bar.sync 0;
  setp.eq.u32 %p3, %r2, 2;
  @%p3 bra ANSWER;
  setp.eq.u32 %p3, %r2, 3;
  @%p3 bra WATCH;
  and.b32 %r3, %r1, 31;
  setp.lt.u32 %p4, %r3, 2;
  mov.u32 %r4, empty;
  mov.u32 %r5, other;
  setp.eq.u32 %p3, %r3, 0;
  selp.b32 %r4, %r4, %r5, %p3;
)" + round +
           meet + round + "  ret;\nANSWER:\n" + wait("EMPTY", "empty", "0") + answer + "  ret;\nWATCH:\n" +
           wait("OTHER", "other", "0") + wait("AGAIN", "other", "1") + "  ret;";
  };
  const Checked together = run_checked(with_mbarriers(body(wait("FULL", "full", "0")), 32, 2), {128, 1, 1});
  ASSERT_THAT(codes(together), ::testing::Contains("PLD4126"));
  for (const Finding& f : together.result.findings)
    EXPECT_EQ(f.severity, FindingSeverity::strict) << report::finding_text(f);
  const Checked loose = run_checked(with_mbarriers(body(""), 32, 2), {128, 1, 1});
  EXPECT_TRUE(std::ranges::any_of(loose.result.findings,
                                  [](const Finding& f) { return f.severity == FindingSeverity::error; }));
}

// Round after round a store puts each lane's value where another lane's was: %r3 is the place of the round's
// first lane.
TEST(Lanes, AStoreThatMeetsItselfInTheNextRoundIsARace) {
  const auto rounds = [](const std::string& place, const std::string& between, const std::string& value) {
    return codes_of(checked(
        "  mov.u32 %r6, 0;\nNEXT:\n" + place + "  and.b32 %r3, %r3, 31;\n  shl.b32 %r3, %r3, 2;\n" +
            "  mov.u32 %r4, tile;\n  add.u32 %r5, %r4, %r3;\n  st.shared.u32 [%r5], " + value + ";\n" +
            between + "  add.u32 %r6, %r6, 1;\n  setp.lt.u32 %p1, %r6, 3;\n  @%p1 bra NEXT;\n",
        {1, 1, 1}, {32, 1, 1}));
  };
  const std::string turning = "  add.u32 %r3, %r1, %r6;\n", same = "  mov.u32 %r3, %r1;\n";
  EXPECT_EQ(rounds(turning, "", "%r1"), Codes{"PLD4611"});
  EXPECT_EQ(rounds(turning, "", "7"), Codes{"PLD4611?"});
  EXPECT_EQ(rounds(turning, "  bar.warp.sync 0xffffffff;\n", "%r1"), Codes{});
  EXPECT_EQ(rounds(turning, "  bar.sync 0;\n", "%r1"), Codes{});
  EXPECT_EQ(rounds(same, "", "%r1"), Codes{});
}

// Lane 0 alone acquires; behind the barrier all lanes know the same, so that four lanes may store one value
// to one word by one instruction.
TEST(Lanes, AfterABarrierLanesKnowTheSame) {
  const auto codes_with = [](const std::string& order) {
    return codes_of(checked("  setp.eq.u32 %p1, %r1, 0;\n  @%p1 atom." + order +
                                ".gpu.global.add.u32 %r2, [%rd1], 1;\n  bar.sync 0;\n  shr.u32 %r3, %r1, 2;\n"
                                "  shl.b32 %r4, %r3, 2;\n  mov.u32 %r5, tile;\n  add.u32 %r4, %r4, %r5;\n"
                                "  st.shared.u32 [%r4], %r3;\n",
                            {2, 1, 1}, {32, 1, 1}));
  };
  EXPECT_EQ(codes_with("relaxed"), Codes{});
  EXPECT_EQ(codes_with("acq_rel"), Codes{});
}

// shfl.sync makes lanes wait for each other and orders no memory.
TEST(Lanes, LanesThatMeetWithoutAnOrderOfMemoryAreStrict) {
  const auto exchange = [](const std::string& meet) {
    return R"(
  shl.b32 %r3, %r1, 2;
  mov.u32 %r4, tile;
  add.u32 %r5, %r4, %r3;
  st.shared.u32 [%r5], %r1;
)" + meet + R"(
  xor.b32 %r3, %r3, 4;
  add.u32 %r5, %r4, %r3;
  ld.shared.u32 %r6, [%r5];
)";
  };
  const auto codes_with = [&](const std::string& meet) {
    return codes_of(checked(exchange(meet), {1, 1, 1}, {32, 1, 1}));
  };
  EXPECT_EQ(codes_with("bar.warp.sync 0xffffffff;"), Codes{});
  EXPECT_EQ(codes_with("shfl.sync.bfly.b32 %r7, %r1, 1, 31, 0xffffffff;"), Codes{"PLD4611?"});
  EXPECT_EQ(codes_with("vote.sync.ballot.b32 %r7, %p1, 0xffffffff;"), Codes{"PLD4611?"});
  EXPECT_EQ(codes_with(""), Codes{"PLD4611"});
  const std::string before = "shfl.sync.bfly.b32 %r7, %r1, 1, 31, 0xffffffff;\n";
  EXPECT_EQ(codes_of(checked(before + exchange(""), {1, 1, 1}, {32, 1, 1})), Codes{"PLD4611"});
}

// One lane arrives for its warp, whose lanes have read: they met, or they did not.
TEST(Lanes, OneLaneArrivesForLanesThatMet) {
  const auto hand_over = [](const std::string& read_and_meet) {
    return R"(
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra MADE;
  mbarrier.init.shared.b64 [full], 1;
MADE:
  shl.b32 %r3, %r1, 2;
  mov.u32 %r4, tile;
  add.u32 %r5, %r4, %r3;
  st.shared.u32 [%r5], %r1;
  bar.sync 0;
  setp.ne.u32 %p3, %r2, 0;
  @%p3 bra OTHER;
)" + read_and_meet +
           R"(
  setp.eq.u32 %p3, %r1, 0;
  @%p3 mbarrier.arrive.shared.b64 _, [full];
  ret;
OTHER:
  mbarrier.try_wait.parity.shared.b64 %p2, [full], 0;
  @!%p2 bra OTHER;
  st.shared.u32 [%r5+-128], %r1;
)";
  };
  const auto codes_with = [&](const std::string& read_and_meet) {
    return codes_of(checked(hand_over(read_and_meet), {1, 1, 1}, {64, 1, 1}));
  };
  const std::string read = "  ld.shared.u32 %r6, [%r5];\n";
  EXPECT_EQ(codes_with(read + "bar.warp.sync 0xffffffff;"), Codes{});
  EXPECT_EQ(codes_with(read + "vote.sync.ballot.b32 %r7, %p3, 0xffffffff;"), Codes{"PLD4105?"});
  EXPECT_EQ(codes_with(read), Codes{"PLD4105"});
  const std::string rows = "  mad.lo.u32 %r6, %r1, 12, %r5;\n";  // 16 bytes a lane
  EXPECT_EQ(codes_with(rows + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r6];"), Codes{"PLD4105?"});
}

// ldmatrix and stmatrix make the lanes of a warp wait for each other, as shfl.sync does: also where they are
// the access itself.
TEST(Lanes, MatrixLoadsAndStoresMakeLanesMeet) {
  const std::string place = R"(
  shl.b32 %r3, %r1, 2;
  mov.u32 %r4, tile;
  add.u32 %r5, %r4, %r3;
  and.b32 %r6, %r1, 7;
  shl.b32 %r6, %r6, 4;
  add.u32 %r6, %r4, %r6;
)";
  const std::string store = "  st.shared.u32 [%r5], %r1;\n", load = "  ld.shared.u32 %r7, [%r5];\n";
  const std::string loads = "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r6];\n";
  const std::string stores = "  stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r6], {%r1};\n";
  const std::string barrier = "  bar.warp.sync 0xffffffff;\n";
  for (const auto& [first, second] :
       {std::pair{store, loads}, {loads, store}, {load, stores}, {stores, load}}) {
    const RunResult r =
        checked(place + (first == loads || first == load ? store + barrier : "") + first + second, {1, 1, 1},
                {32, 1, 1});
    EXPECT_EQ(codes_of(r), Codes{"PLD4611?"}) << first << second;
    ASSERT_FALSE(r.findings.empty());
    EXPECT_EQ(r.findings[0].sites.at(first == loads || first == stores ? 1 : 0).lanes,
              0xFFu);  // that give addresses
    EXPECT_EQ(codes_of(checked(place + store + barrier + first + barrier + second, {1, 1, 1}, {32, 1, 1})),
              Codes{});
  }
}

// Lanes of a warp wait for one phase in two groups: the second sees it for the first time, too.
TEST(Lanes, LanesThatWaitApartHaveNotSeenAPhaseBefore) {
  const std::string body = R"(
  setp.ge.u32 %p3, %r1, 32;
  @%p3 bra FILL;
  setp.lt.u32 %p4, %r1, 16;
  @%p4 bra FIRST;
)" + wait("SECOND_FULL", "full", "0") +
                           "  mbarrier.arrive.shared.b64 _, [empty];\n  ret;\nFIRST:\n" +
                           wait("FIRST_FULL", "full", "0") +
                           "  mbarrier.arrive.shared.b64 _, [empty];\n  ret;\nFILL:\n"
                           "  mbarrier.arrive.shared.b64 _, [full];\n  ret;";
  const Checked apart = run_checked(with_mbarriers(body, 32, 16), {64, 1, 1});
  EXPECT_THAT(codes(apart), ::testing::Not(::testing::Contains("PLD4114")));
}

// Lanes that know different things store one value: parts of one store, the second before the value is in
// memory.
TEST(Lanes, OneValueOfLanesWithDifferentViewsIsStrict) {
  const std::string body = R"(
  mov.u32 %r3, tile;
  st.shared.u32 [%r3+128], 1;
  setp.ge.u32 %p1, %r1, 8;
  @%p1 bra REST;
  bar.warp.sync 0xff;
REST:
  st.shared.u32 [%r3], )";
  EXPECT_EQ(codes_of(checked(body + "5;", {1, 1, 1}, {16, 1, 1})).back().back(), '?');
  EXPECT_THAT(codes_of(checked(body + "%r1;", {1, 1, 1}, {16, 1, 1})), ::testing::Contains("PLD4611"));
}

// Lane 0 of a warp is late; another warp stores for it what it will store, and for the others what they have.
TEST(Lanes, OneValueOfWarpsWithALateLaneIsStrict) {
  const std::string body = R"(
  and.b32 %r3, %r1, 31;
  shl.b32 %r4, %r3, 2;
  mov.u32 %r5, tile;
  add.u32 %r5, %r5, %r4;
  setp.eq.u32 %p1, %r2, 0;
  setp.eq.u32 %p2, %r3, 0;
  @%p1 bra LATE;
  st.shared.u32 [%r5], )";
  const auto codes_with = [&](const std::string& value) {
    return codes_of(checked(
        body + value + ";\n  ret;\nLATE:\n  @%p2 bra HERE;\n  st.shared.u32 [%r5], " + value + ";\nHERE:\n",
        {1, 1, 1}, {64, 1, 1}));
  };
  EXPECT_EQ(codes_with("%r3"), Codes{"PLD4001?"});
  EXPECT_EQ(codes_with("%r1"), Codes{"PLD4001"});
}

// Pairs of lanes read one word; another warp waits for one lane of each pair, and overwrites the word.
TEST(Lanes, EachLaneOfThoseThatReadOneWordIsWaitedFor) {
  const auto codes_with = [](const std::string& arrive, const std::string& arrivals) {
    const std::string body = R"(
  .shared .align 8 .b64 read;
  and.b32 %r3, %r1, 31;
  setp.eq.u32 %p3, %r1, 0;
  @%p3 mbarrier.init.shared.b64 [read], )" +
                             arrivals + R"(;
  shr.u32 %r4, %r3, 1;
  shl.b32 %r4, %r4, 2;
  mov.u32 %r5, tile;
  add.u32 %r4, %r5, %r4;
  and.b32 %r6, %r3, 1;
  setp.eq.u32 %p3, %r6, 0;
  setp.eq.u32 %p1, %r2, 1;
  @!%p1 st.shared.u32 [%r4], 3;
  bar.sync 0;
  @%p1 bra WRITE;
  ld.shared.u32 %r7, [%r4];
)" + arrive + " mbarrier.arrive.shared.b64 _, [read];\n  ret;\nWRITE:\n" +
                             wait("READ", "read", "0") + "  st.shared.u32 [%r4], 5;";
    return codes_of(checked(body, {1, 1, 1}, {64, 1, 1}));
  };
  EXPECT_THAT(codes_with("", "32"), ::testing::IsEmpty());
  EXPECT_THAT(codes_with("@%p3", "16"), ::testing::Contains("PLD4105")) << "the first of each pair";
  EXPECT_THAT(codes_with("@!%p3", "16"), ::testing::Contains("PLD4105")) << "the second";
}

// Lanes of one cp.async may copy the same bytes to one place, and no others.
TEST(Lanes, CopiesOfOtherBytesToOnePlaceAreAnError) {
  const auto codes_with = [](const std::string& from, const std::string& to) {
    return codes_of(
        checked("  mul.wide.u32 %rd2, %r1, 4;\n  add.u64 %rd2, %rd1, %rd2;\n  mov.u32 %r4, tile;\n"
                "  mad.lo.u32 %r5, %r1, 4, %r4;\n  cp.async.ca.shared.global [" +
                    to + "], [" + from + "], 4;\n  cp.async.wait_all;\n",
                {1, 1, 1}, {32, 1, 1}));
  };
  EXPECT_EQ(codes_with("%rd2", "%r5"), Codes{});
  EXPECT_EQ(codes_with("%rd1", "%r4"), Codes{});
  EXPECT_EQ(codes_with("%rd2", "%r4"), Codes{"PLD4612"});
}

}  // namespace
}  // namespace palladion::sim::testing
