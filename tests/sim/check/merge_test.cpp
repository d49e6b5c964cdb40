// One mistake of the source is one finding, whichever warps, lanes, CTAs and unrolled copies show it.
#include "sim/check/core/merge.h"

#include <gmock/gmock.h>

#include "sim/check/catalogue/code.h"
#include "sim/launch/phrases/phrase.h"
#include "tests/sim/check/checked.h"
#include "tests/sim/check/protocol_run.h"

namespace palladion::sim::testing {
namespace {

using ::testing::ElementsAre;

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// Four warps, two and two, meet at one barrier, in a loop that was unrolled.
TEST(Merge, ABarrierOfTwoGroupsIsOneFinding) {
  const Checked c =
      run_checked(with_mbarriers(repeated("  bar.sync 1, 64;\n", 6) + "  ret;", 1, 1), {128, 1, 1});
  for (const std::string& code : codes(c))
    EXPECT_EQ(std::ranges::count(codes(c), code), 1) << PtxRunner::describe(c.result);
  EXPECT_FALSE(c.result.findings.empty());
  for (const Finding& f : c.result.findings) EXPECT_EQ(f.object.number, 1u);
}

// Every lane of CTA 0 stores into CTA 1, which may not have started: eight unrolled stores.
TEST(Merge, AStoreIntoACtaThatMayNotHaveStartedIsOneFinding) {
  std::string body = R"(
  mov.u32 %r3, %cluster_ctarank;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra $end;
  mov.u32 %r4, tile;
  mapa.shared::cluster.u32 %r5, %r4, 1;
)";
  for (int i = 0; i < 8; ++i) body += "  st.shared::cluster.u32 [%r5+" + std::to_string(4 * i) + "], %r1;\n";
  const Checked c = run_checked(with_mbarriers(body + "$end:\n  ret;", 1, 1), {64, 1, 1}, {2, 1, 1});
  EXPECT_EQ(std::ranges::count(codes(c), "PLD4801"), 1) << PtxRunner::describe(c.result);
  const Finding* f = find(c, "PLD4801");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->also.size(), 7u);
  EXPECT_EQ(f->object.names.at(0).name, "tile");
}

// Two copies into two arrays are under way when the CTA exits.
TEST(Merge, AnExitThatWaitsForNothingIsOneFinding) {
  const Checked c = run_checked(R"(
.visible .entry k(.param .u64 array) {
  .shared .align 8 .b64 full;
  .shared .align 128 .b8 left[256];
  .shared .align 128 .b8 right[256];
  .reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [array];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $end;
  mbarrier.init.shared.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [full], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [left], [%rd1], 256, [full];
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [right], [%rd1], 256, [full];
$end:
  ret;
}
)",
                                {32, 1, 1});
  EXPECT_EQ(std::ranges::count(codes(c), "PLD4118"), 1) << PtxRunner::describe(c.result);
  const Finding* f = find(c, "PLD4118");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->also.size(), 1u);
}

// mbarrier.init of a ring that is initialised already: one mbarrier an instruction.
TEST(Merge, ARingThatIsInitialisedTwiceIsOneFinding) {
  std::string init = "  @%p1 bra $ready;\n";
  for (int i = 0; i < 4; ++i) init += "  mbarrier.init.shared.b64 [ring+" + std::to_string(8 * i) + "], 1;\n";
  const Checked c = run_checked(R"(
.visible .entry k(.param .u64 array) {
  .shared .align 8 .b64 ring[4];
  .reg .pred %p<5>; .reg .b32 %r<12>;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
)" + init + init.substr(init.find('\n') + 1) +
                                    "$ready:\n  ret;\n}\n",
                                {32, 1, 1});
  ASSERT_THAT(codes(c), ElementsAre("PLD4109"));
  EXPECT_EQ(c.result.findings[0].object.names.size(), 4u);
  EXPECT_EQ(c.result.findings[0].also.size(), 3u);
}

// A reduction without bar.warp.sync between its steps.
TEST(Merge, StepsThatCountOnLockstepAreOneFinding) {
  std::string steps;
  for (const int step : {16, 8, 4, 2, 1})
    steps +=
        "  setp.lt.u32 %p1, %r1, " + std::to_string(step) + ";\n  @%p1 ld.shared.u32 %r5, [%r3+" +
        std::to_string(4 * step) +
        "];\n  @%p1 ld.shared.u32 %r6, [%r3];\n  add.u32 %r6, %r6, %r5;\n  @%p1 st.shared.u32 [%r3], %r6;\n";
  const RunResult r = checked(R"(
  mov.u32 %r2, tile;
  shl.b32 %r4, %r1, 2;
  add.u32 %r3, %r2, %r4;
  st.shared.u32 [%r3], %r1;
  st.shared.u32 [%r3+128], %r1;
  bar.warp.sync -1;
)" + steps,
                              {1, 1, 1}, {32, 1, 1});
  const auto merged = check::merge(r.findings);
  ASSERT_EQ(merged.size(), 1u) << PtxRunner::describe(r);
  EXPECT_EQ(merged[0].code, check::Code::lane_race);
  EXPECT_GE(merged[0].also.size(), 3u);
}

// One thread writes what all threads of two warps read, without a barrier: lanes of its own warp race, too.
TEST(Merge, ARaceOfThreadsAndOfLanesIsOneFinding) {
  const RunResult r = checked(R"(
  setp.eq.u32 %p1, %r1, 0;
  @%p1 st.shared.u32 [tile], %r1;
  bar.sync 0;
  ld.shared.u32 %r2, [tile];
  @%p1 st.shared.u32 [tile], %r2;
)",
                              {1, 1, 1}, {64, 1, 1});
  const auto merged = check::merge(r.findings);
  ASSERT_EQ(merged.size(), 1u) << PtxRunner::describe(r);
  EXPECT_EQ(merged[0].code, check::Code::shared_memory_race);
  ASSERT_EQ(merged[0].notes.size(), 1u);
  EXPECT_EQ(merged[0].notes[0].phrase, Phrase::lanes_race_too);
}

// A producer that never waits runs ahead of its consumer: the cause comes first, then the deadlock.
TEST(Merge, AWarpThatLapsItsPartnerIsTheCause) {
  const RunResult r = checked(R"(
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra $consumer;
)" + repeated("  st.shared.u32 [tile], 7;\n  barrier.arrive 1, 64;\n", 3) +
                                  "  ret;\n$consumer:\n" +
                                  repeated("  barrier.sync 1, 64;\n  ld.shared.u32 %r2, [tile];\n", 3),
                              {1, 1, 1}, {64, 1, 1});
  const auto merged = check::merge(r.findings);
  ASSERT_FALSE(merged.empty());
  EXPECT_EQ(merged[0].code, check::Code::repeated_barrier_arrival) << PtxRunner::describe(r);
  for (size_t i = 1; i < merged.size(); ++i) {
    EXPECT_NE(merged[i].code, check::Code::repeated_barrier_arrival);
    EXPECT_NE(merged[i].code, check::Code::barrier_of_two_groups);
  }
}

Finding store_at(uint32_t line, Range bytes) {
  Finding f;
  f.code = "PLD6101";
  f.object = {.kind = Object::Kind::shared_memory, .names = {{.name = "a", .index = {}, .bytes = {bytes}}}};
  f.sites.resize(1);
  f.sites[0].ptx_line = line;
  return f;
}

// Without the barrier warp 1 may read before warp 0 has written: one mistake, whether or not something was
// written before. What nobody writes is a mistake of its own.
TEST(Merge, AReadBeforeTheRacingWriteIsPartOfTheRace) {
  const auto codes_with = [](const std::string& before, const std::string& offset) {
    return codes_of(checked(before + R"(
  setp.eq.u32 %p1, %r2, 1;
  @%p1 bra READ;
  mov.u32 %r3, 0;
LATER:
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p3, %r3, 2000;
  @%p3 bra LATER;
  st.shared.u32 [tile], %r3;
  bra DONE;
READ:
  ld.shared.u32 %r4, [tile+)" + offset +
                                R"(];
  st.global.u32 [%rd1], %r4;
DONE:
)",
                            {1, 1, 1}, {64, 1, 1}));
  };
  const std::string clear = "  setp.eq.u32 %p2, %r1, 0;\n  @%p2 st.shared.u32 [tile], 0;\n  bar.sync 0;\n";
  EXPECT_EQ(codes_with("", "0"), Codes{"PLD4001"});
  EXPECT_EQ(codes_with(clear, "0"), Codes{"PLD4001"});
  EXPECT_EQ(codes_with("", "4"), Codes{"PLD6101"});
}

TEST(Merge, RangesAreUnitedAndPlacesKept) {
  std::vector<size_t> part_of;
  const auto out = check::merge({store_at(4, {0, 4}), store_at(5, {8, 12}), store_at(4, {4, 8})}, &part_of);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(part_of, ElementsAre(0u, 0u, 0u));
  EXPECT_THAT(out[0].object.names.at(0).bytes, ElementsAre(Range{0, 12}));
  EXPECT_EQ(out[0].count, 2u) << "the two of one instruction are lanes of one execution";
  EXPECT_EQ(out[0].also.size(), 1u);
  EXPECT_EQ(check::merge({out[0], store_at(5, {8, 12})}).size(), 1u);
}

TEST(Merge, SeveritiesAndArraysStayApart) {
  Finding strict = store_at(4, {0, 4}), other = store_at(4, {0, 4});
  strict.severity = FindingSeverity::strict;
  other.object.names[0].name = "b";
  EXPECT_EQ(check::merge({store_at(4, {0, 4}), strict, other}).size(), 3u);
}

}  // namespace
}  // namespace palladion::sim::testing
