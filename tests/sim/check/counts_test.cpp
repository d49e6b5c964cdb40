// How often a finding was seen: how often its statement went wrong in a CTA, whatever threads did.
#include <gmock/gmock.h>

#include "sim/check/core/merge.h"
#include "tests/sim/check/checked.h"

namespace palladion::sim::testing::counts {
namespace {

using ::testing::ElementsAre;

std::vector<uint64_t> counts_of(const RunResult& r) {
  EXPECT_TRUE(r.errors.empty()) << isa::render(r.errors);
  std::vector<uint64_t> out;
  for (const Finding& f : r.findings) out.push_back(f.count);
  return out;
}

// All warps store different values at one place, `rounds` times, with a barrier between the rounds.
std::string racing_stores(int rounds) {
  return "  mov.u32 %r3, 0;\nAGAIN:\n  st.shared.u32 [tile], %r2;\n  bar.sync 0;\n  add.u32 %r3, %r3, 1;\n"
         "  setp.lt.u32 %p1, %r3, " +
         std::to_string(rounds) + ";\n  @%p1 bra AGAIN;\n";
}

TEST(Counts, WarpsOfOneExecutionAreOne) {
  EXPECT_THAT(counts_of(checked(racing_stores(1), {}, {128, 1, 1})), ElementsAre(1u));
}

TEST(Counts, RoundsAndCtasEachCount) {
  EXPECT_THAT(counts_of(checked(racing_stores(2), {}, {128, 1, 1})), ElementsAre(2u));
  EXPECT_THAT(counts_of(checked(racing_stores(2), {3, 1, 1}, {128, 1, 1})), ElementsAre(6u));
}

// Eight places lie apart, and each is written by two warps.
TEST(Counts, PlacesOfOneAccessAreOne) {
  EXPECT_THAT(counts_of(checked("  and.b32 %r3, %r1, 7;\n  shl.b32 %r3, %r3, 5;\n  mov.u32 %r4, tile;\n"
                                "  add.u32 %r4, %r4, %r3;\n  st.shared.u32 [%r4], %r2;\n",
                                {}, {64, 1, 1})),
              ElementsAre(1u));
}

// Lanes take turns: each one executes the store once.
TEST(Counts, LanesThatTakeTurnsAreOne) {
  const std::string turns =
      "  mov.u32 %r3, 0;\nAGAIN:\n  setp.eq.u32 %p1, %r1, %r3;\n  @%p1 st.shared.u32 [tile], %r1;\n"
      "  add.u32 %r3, %r3, 1;\n  setp.lt.u32 %p2, %r3, 32;\n  @%p2 bra AGAIN;\n";
  EXPECT_THAT(counts_of(checked(turns, {}, {32, 1, 1})), ElementsAre(1u));
}

// Global memory is judged later, many accesses together.
TEST(Counts, GlobalMemoryCountsAlike) {
  const std::string stores =
      "  mov.u32 %r3, 0;\nAGAIN:\n  st.global.u32 [%rd1], %r2;\n  bar.sync 0;\n  add.u32 %r3, %r3, 1;\n"
      "  setp.lt.u32 %p1, %r3, 3;\n  @%p1 bra AGAIN;\n";
  EXPECT_THAT(counts_of(checked(stores, {}, {128, 1, 1})), ElementsAre(3u));
}

// Every thread of a CTA arrives once too often.
TEST(Counts, ArrivalsOfAllThreadsAreOne) {
  const RunResult r = checked(
      "  setp.eq.u32 %p1, %r1, 0;\n  @%p1 mbarrier.init.shared.b64 [full], 1;\n  bar.sync 0;\n"
      "  mbarrier.arrive.shared.b64 _, [full];\n",
      {}, {64, 1, 1});
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings.front().count, 1u);
}

Finding race_at(uint32_t line, uint32_t ptx_line, const std::string& instruction, uint64_t count) {
  Finding f;
  f.code = "PLD4001";
  f.what = Race{};
  f.object = {.kind = Object::Kind::shared_memory, .names = {{.name = "a", .index = {}, .bytes = {}}}};
  f.sites.resize(2);
  for (Site& s : f.sites) {
    s.source.file = "kernel.cu";
    s.source.line = line;
    s.ptx_line = ptx_line;
    s.instruction = instruction;
  }
  f.count = count;
  return f;
}

// Copies of one instruction are rounds of an unrolled loop; a load and a store are parts of one statement.
TEST(Counts, CopiesOfAnInstructionAddUpThoseOfAStatementDoNot) {
  const auto merged = [](const Finding& a, const Finding& b) {
    const auto out = check::merge({a, b});
    EXPECT_EQ(out.size(), 1u);
    return out.front().count;
  };
  const Finding store = race_at(7, 20, "st.shared.u32 [%r1], %r2;", 3);
  EXPECT_EQ(merged(store, race_at(7, 30, "st.shared.u32 [%r3], %r4;", 3)), 6u);
  EXPECT_EQ(merged(store, race_at(7, 30, "ld.shared.u32 %r5, [%r1];", 2)), 3u);
}

}  // namespace
}  // namespace palladion::sim::testing::counts
