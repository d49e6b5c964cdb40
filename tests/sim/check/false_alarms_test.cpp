// Patterns of shipped kernels that are no mistake, or break PTX's text alone, beside the mistakes they look
// like.
#include <gmock/gmock.h>

#include <algorithm>

#include "sim/check/checker.h"
#include "tests/sim/check/protocol_run.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

using ::testing::HasSubstr;

// A kernel with one array of 1024 words in %rd1; the thread's index and warp in %r1 and %r2.
RunResult checked(const std::string& body, isa::Dim3 grid, isa::Dim3 block, uint32_t dynamic = 0) {
  std::vector<uint32_t> array(1024);
  PtxRunner runner(ptx(R"(
.extern .shared .align 128 .b8 dynamic[];
.visible .entry k(.param .u64 array) {
  .shared .align 128 .b8 tile[512];
  .shared .align 8 .b64 full;
  .reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [array];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  mov.u32 %r9, %ctaid.x;
)" + body + "\n  ret;\n}\n"));
  runner.array(array).shape(grid, block);
  runner.launch.dynamic_shared = dynamic;
  check::Checker checker;
  RunOptions how;
  how.observer = &checker;
  return runner.run(how);
}

// "PLD4315" or "PLD4315?" when strict.
std::vector<std::string> codes_of(const RunResult& r) {
  std::vector<std::string> out;
  for (const Finding& f : r.findings)
    out.push_back(f.code + (f.severity == FindingSeverity::strict ? "?" : ""));
  EXPECT_TRUE(r.errors.empty()) << isa::render(r.errors);
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

using Codes = std::vector<std::string>;

constexpr const char* fill_tile = R"(
  shl.b32 %r3, %r1, 2;
  mov.u32 %r4, tile;
  add.u32 %r4, %r4, %r3;
  st.shared.u32 [%r4], %r1;
  fence.proxy.async.shared::cta;
  bar.warp.sync 0xffffffff;
)";

constexpr const char* drain = R"(
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)";

TEST(FalseAlarms, LanesThatIssueOneStoreDoNotRace) {
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;\n";
  EXPECT_EQ(codes_of(checked(fill_tile + store + drain, {1, 1, 1}, {32, 1, 1})), Codes{});
}

TEST(FalseAlarms, LanesThatStoreDifferentTilesToOnePlaceRace) {
  const std::string store = R"(
  and.b32 %r5, %r1, 1;
  shl.b32 %r5, %r5, 4;
  mov.u32 %r6, tile;
  add.u32 %r6, %r6, %r5;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r6], 64;
)";
  EXPECT_EQ(codes_of(checked(fill_tile + store + drain, {1, 1, 1}, {32, 1, 1})), Codes{"PLD4315"});
}

TEST(FalseAlarms, WarpsThatIssueOneStoreRace) {
  const std::string store =
      "bar.sync 0;\n  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;\n";
  EXPECT_EQ(codes_of(checked(fill_tile + store + drain, {1, 1, 1}, {64, 1, 1})), Codes{"PLD4315"});
}

// LLVM names the base of dynamic shared memory with a variable of one byte.
TEST(FalseAlarms, ABaseOfOneByteHasNoEnd) {
  const std::string body = R"(
  .shared .align 128 .b8 base;
  .reg .pred %q;
  setp.ne.u32 %q, %r1, 0;
  @%q bra WAIT;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
  mov.u32 %r3, base;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 256, [full];
WAIT:
  bar.sync 0;
AGAIN:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
  @!%p2 bra AGAIN;
)";
  EXPECT_EQ(codes_of(checked(body, {1, 1, 1}, {32, 1, 1}, 1024)), Codes{});
}

// Two CTAs: the second one reads what the first published by a fence and a relaxed atomic.
std::string last_block(const std::string& read) {
  return R"(
  setp.ne.u32 %p1, %r9, 0;
  @%p1 bra POLL;
  st.global.u32 [%rd1+128], 5;
  fence.acq_rel.gpu;
  atom.relaxed.gpu.global.add.u32 %r4, [%rd1], 1;
  ret;
POLL:
  atom.relaxed.gpu.global.add.u32 %r4, [%rd1], 0;
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra POLL;
)" + read;
}

TEST(FalseAlarms, AVolatileReadBehindARelaxedFlagIsStrict) {
  EXPECT_EQ(codes_of(checked(last_block("ld.volatile.global.u32 %r5, [%rd1+128];"), {2, 1, 1}, {1, 1, 1})),
            Codes{"PLD6002?"});
  EXPECT_EQ(codes_of(checked(last_block("ld.global.u32 %r5, [%rd1+128];"), {2, 1, 1}, {1, 1, 1})),
            Codes{"PLD6002"});
  EXPECT_EQ(codes_of(checked(last_block("fence.acq_rel.gpu;\n  ld.global.u32 %r5, [%rd1+128];"), {2, 1, 1},
                             {1, 1, 1})),
            Codes{});
}

TEST(FalseAlarms, AFenceOfTheCtaAcquiresNothingOfAnotherCta) {
  const auto codes_with = [](const std::string& scope) {
    return codes_of(checked(last_block("fence.acq_rel." + scope + ";\n  ld.global.u32 %r5, [%rd1+128];"),
                            {2, 1, 1}, {1, 1, 1}));
  };
  EXPECT_EQ(codes_with("gpu"), Codes{});
  EXPECT_EQ(codes_with("cta"), Codes{"PLD6004"});
}

// Stores that nothing orders are no signal that came too early.
TEST(FalseAlarms, UnorderedStoresAreTheirOwnKind) {
  const std::string body = R"(
  setp.ne.u32 %p1, %r9, 0;
  @%p1 bra SECOND;
  red.release.gpu.global.add.u32 [%rd1], 1;
  st.global.u32 [%rd1+128], 5;
  ret;
SECOND:
  ld.acquire.gpu.global.u32 %r4, [%rd1];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra SECOND;
  st.global.u32 [%rd1+128], 6;
)";
  EXPECT_EQ(codes_of(checked(body, {2, 1, 1}, {1, 1, 1})), Codes{"PLD6001"});
}

TEST(FalseAlarms, AStoreOverACopysResultIsAnOverlap) {
  const std::string body = std::string(fill_tile) + R"(
  setp.ne.u32 %p1, %r9, 0;
  @%p1 bra SECOND;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra END;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  bra END;
SECOND:
  st.global.u32 [%rd1], 6;
END:
)";
  EXPECT_EQ(codes_of(checked(body, {2, 1, 1}, {32, 1, 1})), Codes{"PLD4315"});
}

// Two warps arrive at `full` in each round and meet at a barrier of the CTA: the phase is complete without a
// wait for it.
TEST(FalseAlarms, AnArrivalBehindOtherBarriersIsStrict) {
  const std::string arrive = "  mbarrier.arrive.shared.b64 _, [full];\n";
  const Checked ordered =
      run_checked(with_mbarriers(arrive + "  bar.sync 0;\n" + arrive + "  ret;", 64, 1), {64, 1, 1});
  for (const Finding& f : ordered.result.findings)
    EXPECT_EQ(f.severity, FindingSeverity::strict) << render(f);
  EXPECT_EQ(ordered.coverage.unforced_phases, 0u) << ordered.coverage.unforced_reason;
  const Checked loose = run_checked(with_mbarriers(arrive + arrive + "  ret;", 64, 1), {64, 1, 1});
  EXPECT_TRUE(std::ranges::any_of(loose.result.findings,
                                  [](const Finding& f) { return f.severity == FindingSeverity::error; }));
}

// Lanes 0 and 1 of two warps arrive at two mbarriers by one instruction; a wait for the one orders both.
TEST(FalseAlarms, ArrivalsOfOneInstructionAreOneStep) {
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
    EXPECT_EQ(f.severity, FindingSeverity::strict) << render(f);
  const Checked loose = run_checked(with_mbarriers(body(""), 32, 2), {128, 1, 1});
  EXPECT_TRUE(std::ranges::any_of(loose.result.findings,
                                  [](const Finding& f) { return f.severity == FindingSeverity::error; }));
}

// shfl.sync makes lanes wait for each other and orders no memory.
TEST(FalseAlarms, LanesThatMeetWithoutAnOrderOfMemoryAreStrict) {
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
TEST(FalseAlarms, OneLaneArrivesForLanesThatMet) {
  const auto hand_over = [](const std::string& meet) {
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
  ld.shared.u32 %r6, [%r5];
)" + meet + R"(
  setp.eq.u32 %p3, %r1, 0;
  @%p3 mbarrier.arrive.shared.b64 _, [full];
  ret;
OTHER:
  mbarrier.try_wait.parity.shared.b64 %p2, [full], 0;
  @!%p2 bra OTHER;
  st.shared.u32 [%r5+-128], %r1;
)";
  };
  const auto codes_with = [&](const std::string& meet) {
    return codes_of(checked(hand_over(meet), {1, 1, 1}, {64, 1, 1}));
  };
  EXPECT_EQ(codes_with("bar.warp.sync 0xffffffff;"), Codes{});
  EXPECT_EQ(codes_with("vote.sync.ballot.b32 %r7, %p3, 0xffffffff;"), Codes{"PLD4105?"});
  EXPECT_EQ(codes_with(""), Codes{"PLD4105"});
}

// Half of each warp has returned. bar.sync waits for the others, and for all of them.
TEST(FalseAlarms, ABarrierWithoutACountWaitsForTheLanesThatAreLeft) {
  const std::string exchange = R"(
  and.b32 %r3, %r1, 31;
  setp.ge.u32 %p1, %r3, 16;
  @%p1 ret;
  mad.lo.u32 %r3, %r2, 16, %r3;
  shl.b32 %r4, %r3, 2;
  mov.u32 %r5, tile;
  add.u32 %r6, %r5, %r4;
  xor.b32 %r4, %r4, 252;
  add.u32 %r5, %r5, %r4;
  st.shared.u32 [%r6], %r1;
  bar.sync 0;
  ld.shared.u32 %r7, [%r5];
)";
  EXPECT_EQ(
      codes_of(checked(exchange + "  bar.sync 0;\n  st.shared.u32 [%r6], %r7;", {1, 1, 1}, {128, 1, 1})),
      Codes{});
  EXPECT_EQ(codes_of(checked(exchange + "  st.shared.u32 [%r6], %r7;", {1, 1, 1}, {128, 1, 1})),
            Codes{"PLD4001"});
}

// Lanes that know different things store one value: parts of one store, the second before the value is in
// memory.
TEST(FalseAlarms, OneValueOfLanesWithDifferentViewsIsStrict) {
  const std::string body = R"(
  mov.u32 %r3, tile;
  st.shared.u32 [%r3+128], %r1;
  setp.ge.u32 %p1, %r1, 8;
  @%p1 bra REST;
  bar.warp.sync 0xff;
REST:
  st.shared.u32 [%r3], )";
  EXPECT_EQ(codes_of(checked(body + "5;", {1, 1, 1}, {16, 1, 1})).back().back(), '?');
  EXPECT_THAT(codes_of(checked(body + "%r1;", {1, 1, 1}, {16, 1, 1})), ::testing::Contains("PLD4611"));
}

// Lane 0 of a warp is late; another warp stores for it what it will store, and for the others what they have.
TEST(FalseAlarms, OneValueOfWarpsWithALateLaneIsStrict) {
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

// Two warps store equal fragments at one place, as compilers do when a tile is smaller than the CTA.
TEST(FalseAlarms, EqualFragmentsOfStmatrixAreStrict) {
  const std::string body = R"(
  and.b32 %r3, %r1, 31;
  shl.b32 %r4, %r3, 4;
  mov.u32 %r5, tile;
  add.u32 %r5, %r5, %r4;
  stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r5], {)";
  EXPECT_EQ(codes_of(checked(body + "%r3, %r3, %r3, %r3};", {1, 1, 1}, {64, 1, 1})), Codes{"PLD4001?"});
  EXPECT_EQ(codes_of(checked(body + "%r1, %r1, %r1, %r1};", {1, 1, 1}, {64, 1, 1})), Codes{"PLD4001"});
}

// One copy overwrites what eight loads of two warps have read: one mistake; of each load the first byte is
// told.
TEST(FalseAlarms, OneMissingFenceIsOneFinding) {
  std::string body = R"(
  setp.ne.u32 %p1, %r1, 0;
  mov.u32 %r3, dynamic;
  @%p1 bra READY;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 128, [full];
READY:
  bar.sync 0;
FIRST:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
  @!%p2 bra FIRST;
)";
  for (int i = 0; i < 8; ++i) body += "  ld.shared.u32 %r4, [%r3+" + std::to_string(16 * i) + "];\n";
  body += R"(
  bar.sync 0;
  @%p1 ret;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 128, [full];
SECOND:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 1;
  @!%p2 bra SECOND;
)";
  const RunResult r = checked(body, {1, 1, 1}, {64, 1, 1}, 128);
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].code, "PLD4308");
  EXPECT_THAT(r.findings[0].object, HasSubstr("[0, 1), [16, 17)"));
  EXPECT_THAT(r.findings[0].notes, ::testing::Contains(HasSubstr("8 instructions with the same mistake")));
}

// --- bounded history ------------------------------------------------------------------------------
constexpr uint32_t tiles = 1200;  // of 4 KiB
constexpr check::GlobalBudget small{.records = 16384, .pages = 400, .deferred = 2048};

// `body` has the address of a thread's word of tile `ctaid % tiles` in %rd2.
Codes codes_of_tiles(const std::string& body, uint32_t ctas, const check::GlobalBudget& budget) {
  std::vector<uint32_t> array(size_t{tiles} * 1024);
  PtxRunner runner(ptx(R"(
.visible .entry k(.param .u64 array) {
  .reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [array];
  mov.u32 %r1, %tid.x;
  mov.u32 %r9, %ctaid.x;
  rem.u32 %r3, %r9, )" +
                       std::to_string(tiles) + R"(;
  mad.lo.u32 %r3, %r3, 1024, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd2, %rd1, %rd2;
)" + body + "\n  ret;\n}\n"));
  runner.array(array).shape({ctas, 1, 1}, {1024, 1, 1});
  check::Options options;
  options.global = budget;
  check::Checker checker(options);
  RunOptions how;
  how.observer = &checker;
  const RunResult r = runner.run(how);
  EXPECT_TRUE(checker.coverage().incomplete.empty());
  return codes_of(r);
}

// The last of `tiles + 1` CTAs stores where the first one has.
TEST(BoundedHistory, StoresOfCtasThatHaveEnded) {
  const std::string different = "add.u32 %r5, %r9, %r1;\n  st.global.u32 [%rd2], %r5;";
  EXPECT_EQ(codes_of_tiles(different, tiles, small), Codes{});
  EXPECT_EQ(codes_of_tiles(different, tiles + 1, small), Codes{"PLD6001"});
  EXPECT_EQ(codes_of_tiles("st.global.u32 [%rd2], 7;", tiles + 1, small), Codes{"PLD6001?"});
}

// The last CTA stores where all have read.
TEST(BoundedHistory, ReadsOfCtasThatHaveEnded) {
  const std::string body = "setp.ge.u32 %p1, %r9, " + std::to_string(tiles) + R"(;
  @!%p1 ld.global.u32 %r5, [%rd2];
  @%p1 st.global.u32 [%rd2], %r9;
)";
  EXPECT_EQ(codes_of_tiles(body, tiles, small), Codes{});
  EXPECT_EQ(codes_of_tiles(body, tiles + 1, small), Codes{"PLD6001"});
}

}  // namespace
}  // namespace palladion::sim::testing
