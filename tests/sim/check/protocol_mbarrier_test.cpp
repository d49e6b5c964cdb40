// Rules of mbarriers: phases, counts, life.
#include "report/text/finding_text.h"
#include "sim/launch/phrases/phrase.h"
#include "tests/sim/check/protocol_run.h"

namespace palladion::sim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Warp 0 fills, warp 1 frees, four times.
std::string ring(const std::string& producer_parity) {
  return with_mbarriers(R"(
  mov.u32 %r3, 0;
  setp.ne.u32 %p3, %r2, 0;
  @%p3 bra $consume;
$produce:
  and.b32 %r4, %r3, 1;
  xor.b32 %r4, %r4, )" + producer_parity +
                            ";\n" + wait("$w_empty", "empty", "%r4") + R"(
  mbarrier.arrive.shared.b64 _, [full];
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p4, %r3, 4;
  @%p4 bra $produce;
  ret;
$consume:
  and.b32 %r4, %r3, 1;
)" + wait("$w_full", "full", "%r4") +
                            R"(
  mbarrier.arrive.shared.b64 _, [empty];
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p4, %r3, 4;
  @%p4 bra $consume;
  ret;)",
                        32, 32);
}

TEST(ProtocolMbarrier, ARightRingIsSilentAndForced) {
  for (const RunOptions& o : every_schedule()) {
    const Checked c = run_checked(ring("1"), {64, 1, 1}, {}, o);
    EXPECT_THAT(codes(c), IsEmpty()) << name(o.schedule) << PtxRunner::describe(c.result);
    EXPECT_EQ(c.coverage.forced_phases, 8U);
    EXPECT_EQ(c.coverage.unforced_phases, 0U) << report::text_of(c.coverage.unforced_reason);
  }
}

TEST(ProtocolMbarrier, AProducerThatStartsWithParityZeroDeadlocks) {
  const Checked c = run_checked(ring("0"), {64, 1, 1});
  ASSERT_THAT(codes(c), ElementsAre("PLD4901"));
  EXPECT_EQ(std::get<Deadlock>(c.result.findings[0].what).cycle.size(), 2U);
}

TEST(ProtocolMbarrier, ArrivalsAheadOfAnyWait) {
  for (const RunOptions& o : every_schedule()) {
    const Checked c = run_checked(with_mbarriers(R"(
  mbarrier.arrive.shared.b64 _, [full];
  mbarrier.arrive.shared.b64 _, [full];
  ret;)",
                                                 32, 1),
                                  {32, 1, 1}, {}, o);
    ASSERT_THAT(codes(c), ElementsAre("PLD4112")) << name(o.schedule);
    EXPECT_EQ(c.result.findings[0].object.names.at(0).name, "full");
  }
}

TEST(ProtocolMbarrier, LanesThatRunThroughPhases) {
  const Checked c =
      run_checked(with_mbarriers("  mbarrier.arrive.shared.b64 _, [full];\n  ret;", 4, 1), {32, 1, 1});
  EXPECT_THAT(codes(c), ElementsAre("PLD4104"));
}

TEST(ProtocolMbarrier, AThirdWarpThatWasNotCounted) {
  const Checked c =
      run_checked(with_mbarriers("  mbarrier.arrive.shared.b64 _, [full];\n  ret;", 32, 1), {64, 1, 1});
  EXPECT_THAT(codes(c), ElementsAre("PLD4102"));
}

TEST(ProtocolMbarrier, InitialisedTwice) {
  const Checked c = run_checked(with_mbarriers(R"(
  @!%p1 mbarrier.init.shared.b64 [full], 1;
  ret;)",
                                               1, 1),
                                {32, 1, 1});
  EXPECT_THAT(codes(c), ElementsAre("PLD4109"));
}

// Warps 0 and 1 arrive at `full` and then at `empty`; warp 2 waits for `empty`, whose phase 0 cannot complete
// before that of `full`, and then for phase 1 of `full` (the ring of ThunderKittens' attention). Behind
// `full` alone it could not tell phase 1 from the one before the first.
TEST(ProtocolMbarrier, AnotherMbarrierTellsThatThePhaseBeforeIsComplete) {
  const auto ring = [](const std::string& waiter) {
    const std::string lane = "  and.b32 %r3, %r1, 31;\n  setp.ne.u32 %p3, %r3, 0;\n";
    return with_mbarriers(
        lane + "  setp.eq.u32 %p4, %r2, 2;\n  @%p4 bra WAITS;\n" +
            "  @!%p3 mbarrier.arrive.shared.b64 _, [full];\n  @!%p3 mbarrier.arrive.shared.b64 _, "
            "[empty];\n" +
            wait("FIRST", "full", "0") + "  bar.sync 1, 64;\n" +
            "  @!%p3 mbarrier.arrive.shared.b64 _, [full];\n  ret;\nWAITS:\n" + waiter +
            wait("SECOND", "full", "1") + "  st.global.u32 [%rd1], %r1;\n  ret;",
        2, 2);
  };
  EXPECT_THAT(codes(run_checked(ring(wait("OTHER", "empty", "0")), {96, 1, 1})),
              ::testing::Not(::testing::Contains("PLD4115")));
  EXPECT_THAT(codes(run_checked(ring(""), {96, 1, 1})),
              ::testing::Contains(::testing::AnyOf("PLD4113", "PLD4115")));
}

// All lanes of a warp execute one mbarrier.init with one count: each is one of those that initialised it.
TEST(ProtocolMbarrier, InitialisedByTheLanesOfAWarpTogether) {
  const std::string body = R"(
  mov.u32 %r5, tile;
  and.b32 %r7, %r1, 1;
  add.u32 %r7, %r7, 1;
  mbarrier.init.shared.b64 [%r5], )";
  const std::string use = R"(;
  and.b32 %r6, %r1, 31;
  setp.eq.u32 %p2, %r6, 9;
  @%p2 mbarrier.arrive.shared.b64 _, [%r5];
  ret;)";
  const Checked c = run_checked(with_mbarriers(body + "1" + use, 1, 1), {32, 1, 1});
  ASSERT_THAT(codes(c), ElementsAre("PLD4109"));
  EXPECT_EQ(c.result.findings[0].severity, FindingSeverity::strict);
  const Checked counts = run_checked(with_mbarriers(body + "%r7" + use, 1, 1), {32, 1, 1});
  ASSERT_THAT(codes(counts), ::testing::Contains("PLD4109"));
  EXPECT_EQ(std::ranges::count(counts.result.findings, FindingSeverity::error, &Finding::severity),
            static_cast<std::ptrdiff_t>(counts.result.findings.size()));
}

// Of one warp that is strict; of two warps the one that comes later may initialise what is in use.
TEST(ProtocolMbarrier, InitialisedByAllLanesOfTwoWarps) {
  const std::string body = "  mov.u32 %r5, tile;\n  mbarrier.init.shared.b64 [%r5], 1;\n  ret;";
  const auto errors = [&](uint32_t threads) {
    const Checked c = run_checked(with_mbarriers(body, 1, 1), {threads, 1, 1});
    EXPECT_THAT(codes(c), ::testing::Each("PLD4109"));
    return std::ranges::count(c.result.findings, FindingSeverity::error, &Finding::severity);
  };
  EXPECT_EQ(errors(32), 0);
  EXPECT_EQ(errors(64), 1);
}

TEST(ProtocolMbarrier, UsedAfterInval) {
  const Checked c = run_checked(with_mbarriers(R"(
  @!%p1 mbarrier.inval.shared.b64 [full];
  bar.sync 0;
  mbarrier.arrive.shared.b64 _, [full];
  ret;)",
                                               32, 1),
                                {32, 1, 1});
  ASSERT_THAT(codes(c), ElementsAre("PLD4108"));
  EXPECT_TRUE(c.result.findings[0].fatal) << "the machine stops there: a note";
}

// The last of two warps to count down invalidates the mbarrier. Lane 31 has arrived there, lane 0 counts.
TEST(ProtocolMbarrier, LanesThatMeetBeforeOneOfThemSignalsForAll) {
  const auto counted = [](const std::string& meet) {
    return run_checked(with_mbarriers(R"(
  @!%p1 st.shared.u32 [tile], 2;
  bar.sync 0;
  and.b32 %r3, %r1, 31;
  setp.eq.u32 %p2, %r3, 31;
  @%p2 mbarrier.arrive.shared.b64 _, [full];
)" + meet + R"(
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra $done;
  fence.sc.cta;
  atom.acquire.cta.shared.add.u32 %r4, [tile], -1;
  setp.eq.u32 %p2, %r4, 1;
  @%p2 mbarrier.inval.shared.b64 [full];
$done:
  ret;)",
                                      2, 1),
                       {64, 1, 1});
  };
  const auto severities = [](const Checked& c) {
    EXPECT_THAT(codes(c), ElementsAre("PLD4111"));
    return c.result.findings.empty() ? FindingSeverity::error : c.result.findings[0].severity;
  };
  EXPECT_EQ(severities(counted("  match.any.sync.b32 %r5, %r2, 0xffffffff;")), FindingSeverity::strict);
  EXPECT_EQ(severities(counted("")), FindingSeverity::error);
  EXPECT_THAT(codes(counted("  bar.warp.sync 0xffffffff;")), ::testing::IsEmpty());
}

// One lane expects 256 bytes and loads them into `tile`.
std::string load(int expected) {
  return R"(
  @%p1 bra $loaded;
  mbarrier.arrive.expect_tx.shared.b64 _, [full], )" +
         std::to_string(expected) + R"(;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [full];
$loaded:
)";
}

TEST(ProtocolMbarrier, NoThreadWaitsForACopy) {
  for (const RunOptions& o : every_schedule()) {
    const Checked c = run_checked(with_mbarriers(load(256) + "  ret;", 1, 1), {32, 1, 1}, {}, o);
    ASSERT_THAT(codes(c), ElementsAre("PLD4118")) << name(o.schedule);
    EXPECT_EQ(c.result.findings[0].object.names.at(0).name, "tile");
  }
}

TEST(ProtocolMbarrier, AnAwaitedCopyIsSilent) {
  for (const RunOptions& o : every_schedule()) {
    const Checked c =
        run_checked(with_mbarriers(load(256) + wait("$w", "full", "0") + "  ret;", 1, 1), {64, 1, 1}, {}, o);
    EXPECT_THAT(codes(c), IsEmpty()) << name(o.schedule) << PtxRunner::describe(c.result);
  }
}

TEST(ProtocolMbarrier, TooManyBytesExpected) {
  const Checked c =
      run_checked(with_mbarriers(load(512) + wait("$w", "full", "0") + "  ret;", 1, 1), {32, 1, 1});
  ASSERT_THAT(codes(c), ElementsAre("PLD4203"));
  const Statement& message = c.result.findings[0].message;
  ASSERT_EQ(message.phrase, Phrase::bytes_of_phase_differ);
  EXPECT_EQ(std::get<int64_t>(message.values.at(2)), 512);
  EXPECT_EQ(std::get<int64_t>(message.values.at(3)), 256);
}

}  // namespace
}  // namespace palladion::sim::testing
