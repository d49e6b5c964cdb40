// Patterns of shipped kernels that are no mistake, or break PTX's text alone, beside the mistakes they look
// like.
#include <gmock/gmock.h>

#include <algorithm>

#include "report/text/finding_text.h"
#include "sim/check/checker.h"
#include "sim/check/observers.h"
#include "sim/launch/phrases/phrase.h"
#include "tests/sim/check/checked.h"
#include "tests/sim/check/protocol_run.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

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

// "This instruction accesses its mbarrier operand using generic-proxy" (PTX, "cp.async.bulk"): a barrier
// publishes the init, no proxy fence is needed.
TEST(FalseAlarms, ACopySignalsAtAnMbarrierThatABarrierPublished) {
  EXPECT_EQ(codes_of(checked(R"(
  setp.eq.u32 %p1, %r1, 0;
  setp.eq.u32 %p2, %r1, 32;
  @%p1 mbarrier.init.shared::cta.b64 [full], 1;
  bar.sync 0;
  @!%p2 bra WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [full];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 0;
  @!%p3 bra WAIT;
)",
                             {1, 1, 1}, {64, 1, 1})),
            Codes{});
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
  const auto with = [](const std::string& scope) {
    return checked(last_block("fence.acq_rel." + scope + ";\n  ld.global.u32 %r5, [%rd1+128];"), {2, 1, 1},
                   {1, 1, 1});
  };
  EXPECT_EQ(codes_of(with("gpu")), Codes{});
  const RunResult narrow = with("cta");
  EXPECT_EQ(codes_of(narrow), Codes{"PLD6004"});
  EXPECT_EQ(narrow.findings.front().missing.phrase, Phrase::flag_of_narrow_scope);
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

// Relaxed accesses to shared memory, and flags that lead elsewhere, say nothing of two CTAs.
TEST(FalseAlarms, AFlagOfTheCtaIsNotTheCauseOfARaceBetweenCtas) {
  const std::string relaxed = R"(
  mov.u32 %r3, tile;
  st.volatile.shared.u32 [%r3], 1;
  ld.volatile.shared.u32 %r4, [%r3];
)";
  EXPECT_EQ(codes_of(checked(relaxed + "st.global.u32 [%rd1+128], %r9;", {2, 1, 1}, {1, 1, 1})),
            Codes{"PLD6001"});
  const std::string flag =
      "red.relaxed.gpu.global.add.u32 [%rd1], 1;\nld.relaxed.gpu.global.u32 %r4, [%rd1];\n";
  EXPECT_EQ(codes_of(checked(flag + "st.global.u32 [%rd1+128], %r9;", {2, 1, 1}, {1, 1, 1})),
            Codes{"PLD6001"});
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
    EXPECT_EQ(f.severity, FindingSeverity::strict) << report::finding_text(f);
  EXPECT_EQ(ordered.coverage.unforced_phases, 0u) << report::text_of(ordered.coverage.unforced_reason);
  const Checked loose = run_checked(with_mbarriers(arrive + arrive + "  ret;", 64, 1), {64, 1, 1});
  EXPECT_TRUE(std::ranges::any_of(loose.result.findings,
                                  [](const Finding& f) { return f.severity == FindingSeverity::error; }));
}

// A wait that can miss its phase, reported of a warp that goes on to act, whenever it does; the flag in
// shared memory orders this run alone.
TEST(FalseAlarms, AWaitThatCanMissItsPhaseIsToldOfThoseThatAct) {
  const auto body = [](const std::string& act) {
    return R"(
  mov.u32 %r3, tile;
  setp.ge.u32 %p3, %r1, 32;
  @%p3 bra FILL;
)" + wait("FULL", "full", "0") +
           "  st.volatile.shared.u32 [%r3], 1;\n" + act + R"(  ret;
FILL:
  mbarrier.arrive.shared.b64 _, [full];
SPIN:
  ld.volatile.shared.u32 %r4, [%r3];
  setp.ne.u32 %p4, %r4, 1;
  @%p4 bra SPIN;
  mbarrier.arrive.shared.b64 _, [full];
  ret;)";
  };
  // Under the arrival that is not ordered behind the wait.
  const auto told = [&](const std::string& act) {
    const Checked c = run_checked(with_mbarriers(body(act), 32, 32), {64, 1, 1});
    const Finding* const early = find(c, "PLD4112");
    return early != nullptr && std::ranges::any_of(early->notes, [](const Statement& s) {
             return s.phrase == Phrase::finding_follows &&
                    std::get<Statement>(s.values.at(1)).phrase == Phrase::missable_phase;
           });
  };
  EXPECT_TRUE(told("  mbarrier.arrive.shared.b64 _, [empty];\n"));
  EXPECT_FALSE(told(""));
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
// reported.
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
  const auto& bytes = r.findings[0].object.names.at(0).bytes;
  ASSERT_EQ(bytes.size(), 8u);
  EXPECT_EQ(bytes[1], (Range{16, 20}));
  EXPECT_EQ(r.findings[0].also.size(), 7u) << "other instructions with the same mistake";
}

// --- bounded history ------------------------------------------------------------------------------
constexpr uint32_t tiles = 1200;  // of 4 KiB
constexpr check::GlobalBudget small{.records = 16384, .pages = 400, .deferred = 2048};

// `body` has the address of a thread's word of tile `ctaid % tiles` in %rd2. Kernels that race take one
// thread of the host, in whose memory they would race, too.
RunResult run_of_tiles(const std::string& body, uint32_t ctas, const check::GlobalBudget& budget,
                       unsigned threads = 1, Observer* other = nullptr) {
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
  std::vector<Observer*> all{&checker};
  if (other != nullptr) all.push_back(other);
  check::Observers observers(all);
  how.observer = &observers;
  how.threads = threads;
  const RunResult r = runner.run(how);
  EXPECT_TRUE(checker.coverage().incomplete.empty());
  return r;
}

Codes codes_of_tiles(const std::string& body, uint32_t ctas, const check::GlobalBudget& budget) {
  return codes_of(run_of_tiles(body, ctas, budget));
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

// Counts the quantum boundaries and pauses.
struct BoundaryCounter : Observer {
  void observe(ClusterState& /*cluster*/, ClusterEvents& /*events*/) override {}
  void at_quantum_boundary(std::span<ClusterState* const> /*resident*/) override { ++boundaries; }
  int boundaries = 0;
};

// A log of one access: clusters pause after each round. What they execute and what is found stays the same.
TEST(BoundedHistory, PausesInAQuantum) {
  const auto passes = [](const std::string& last) {
    return R"(
  mov.u32 %r4, 0;
PASS:
  ld.global.u32 %r5, [%rd2];
  add.u32 %r5, %r5, %r9;
  st.global.u32 [%rd2], %r5;
  bar.sync 0;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 20;
  @%p1 bra PASS;
  setp.ne.u32 %p2, %r1, 0;
)" + last;
  };
  // The CTAs' first threads all store to the array's first word.
  for (const auto& [last, codes] : {std::pair<std::string, Codes>{"", Codes{}},
                                    {"@!%p2 st.global.u32 [%rd1], %r9;\n", Codes{"PLD6001"}}}) {
    BoundaryCounter without, with;
    const RunResult whole = run_of_tiles(passes(last), 3, {.log = 1U << 30}, 1, &without);
    const RunResult paused = run_of_tiles(passes(last), 3, {.log = 1}, 1, &with);
    EXPECT_GE(with.boundaries, without.boundaries + 20);  // a pause in each pass
    const RunResult spread = run_of_tiles(passes(last), 3, {.log = 1}, codes.empty() ? 2 : 1);
    EXPECT_EQ(codes_of(whole), codes);
    for (const RunResult* r : {&paused, &spread}) {
      EXPECT_EQ(r->instructions, whole.instructions);
      EXPECT_EQ(codes_of(*r), codes);
      ASSERT_EQ(r->findings.size(), whole.findings.size());
      for (size_t i = 0; i < whole.findings.size(); ++i) {
        EXPECT_EQ(r->findings[i].object, whole.findings[i].object);
        EXPECT_EQ(r->findings[i].count, whole.findings[i].count);
      }
    }
  }
}

}  // namespace
}  // namespace palladion::sim::testing
