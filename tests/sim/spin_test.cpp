// Loops that wait for a value: those that no thread can end are deadlocks, after few instructions.
#include <algorithm>

#include "sim/launch/codes.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

// `body` may branch to $end; %rd1: a word of GMEM that is 0, %r1: the thread.
std::string spinning(const std::string& body) {
  return ptx(R"(
.visible .entry k(.param .u64 word, .param .u64 out) {
  .shared .align 4 .b32 flag;
  .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [word];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
  mov.u32 %r3, 8;
)" + body + R"(
  st.global.u32 [%rd2], %r2;
$end:
  ret;
})");
}

std::vector<RunOptions> schedules() {
  std::vector<RunOptions> all(3);
  all[1].schedule = {.kind = Schedule::Kind::seeded, .seed = 1};
  all[2].schedule = {.kind = Schedule::Kind::latest};
  return all;
}

void expect_deadlock(const std::string& body, uint64_t most_instructions) {
  for (RunOptions o : schedules()) {
    o.max_instructions = 50'000'000;
    std::vector<uint32_t> word(1), out(1);
    PtxRunner runner(spinning(body));
    runner.shape({2, 1, 1}, {64, 1, 1}).array(word).array(out);
    const RunResult r = runner.run(o);
    EXPECT_TRUE(r.deadlocked) << name(o.schedule) << body << PtxRunner::describe(r);
    EXPECT_LT(r.instructions, most_instructions) << name(o.schedule) << body;
  }
}

TEST(Spin, ACounterThatNothingInTheLoopReadsIsNoChange) {
  expect_deadlock(R"(
$spin:
  atom.global.cas.b32 %r4, [%rd1], 1, 2;
  add.u32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r4, 1;
  @%p1 bra $spin;)",
                  20'000);
  expect_deadlock(R"(
$spin:
  ld.volatile.global.u32 %r4, [%rd1];
  mad.lo.u32 %r2, %r4, 3, %r2;
  add.u32 %r2, %r2, 1;
  setp.eq.u32 %p1, %r4, 0;
  @%p1 bra $spin;)",
                  20'000);
  expect_deadlock(R"(
$spin:
  ld.volatile.shared.u32 %r4, [flag];
  add.u32 %r2, %r2, 1;
  setp.eq.u32 %p1, %r4, 0;
  @%p1 bra $spin;)",
                  4'000'000);
}

// One look shows that the warps return to states that they had, the next one that nothing outside has
// changed.
TEST(Spin, AFlagInSharedMemoryThatNobodySetsEndsAfterTwoLooks) {
  expect_deadlock(R"(
$spin:
  ld.volatile.shared.u32 %r4, [flag];
  setp.eq.u32 %p1, %r4, 0;
  @%p1 bra $spin;)",
                  20'000);
}

// Nothing in such a loop ends a quantum: states are compared inside of it.
// A random schedule meets a state of a longer loop again after more boundaries.
TEST(Spin, ALoopWithoutAnEffectEndsAfterFewInstructions) {
  expect_deadlock("$spin: bra.uni $spin;", 100'000);
  expect_deadlock(R"(
$spin:
  add.u32 %r2, %r2, 3;
  and.b32 %r2, %r2, 31;
  setp.ne.u32 %p1, %r2, 77;
  @%p1 bra $spin;)",
                  4'000'000);
  expect_deadlock(R"(
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $meet;
$spin:
  ld.shared.u32 %r4, [flag];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra $spin;
$meet:
  bar.sync 0;)",
                  100'000);
  expect_deadlock(R"(
  .local .align 4 .b32 mine;
  st.local.u32 [mine], %r2;
$spin:
  ld.local.u32 %r4, [mine];
  add.u32 %r4, %r4, 1;
  and.b32 %r4, %r4, 15;
  st.local.u32 [mine], %r4;
  setp.lt.u32 %p1, %r4, 16;
  @%p1 bra $spin;)",
                  4'000'000);
}

TEST(Spin, ALongLoopWithoutAnEffectIsNoDeadlock) {
  for (RunOptions o : schedules()) {
    o.quantum = 20'000;
    std::vector<uint32_t> word(1), out(1);
    PtxRunner runner(spinning(R"(
  .local .align 4 .b32 mine;
  st.local.u32 [mine], %r2;
$count:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 50000;
  @%p1 bra $count;
$again:
  ld.local.u32 %r4, [mine];
  add.u32 %r4, %r4, 1;
  st.local.u32 [mine], %r4;
  setp.lt.u32 %p1, %r4, 20000;
  @%p1 bra $again;
  add.u32 %r2, %r2, %r4;)"));
    runner.shape({2, 1, 1}, {64, 1, 1}).array(word).array(out).run_clean(o);
    EXPECT_EQ(out[0], 70'000U);
  }
}

// A look at states executes ahead on a copy: what it finds there is no finding yet, and what it counts is not
// counted.
TEST(Spin, ALookAtStatesLeavesNoTrace) {
  const std::string counts_then_fails = R"(
  ld.param.u32 %r9, [limit];
$count:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r9;
  @%p1 bra $count;
  mov.u64 %rd3, 64;
  ld.global.u32 %r4, [%rd3];)";
  std::string text = spinning(counts_then_fails);
  text.replace(text.find(".param .u64 out"), 15, ".param .u64 out, .param .u32 limit");
  for (const uint32_t limit : {1350U, 1400U, 5500U}) {  // just behind a look
    std::vector<uint32_t> word(1), out(1);
    PtxRunner runner(text);
    runner.shape({1, 1, 1}, {32, 1, 1}).array(word).array(out).scalar(limit);
    const RunResult r = runner.run({});
    ASSERT_EQ(r.findings.size(), 1U) << PtxRunner::describe(r);
    EXPECT_EQ(r.instructions, 6U + 3 * limit + 2) << PtxRunner::describe(r);
  }
}

TEST(Spin, TheTimeThatTheLoopSleepsIsNoChange) {
  expect_deadlock(R"(
$spin:
  atom.acquire.gpu.global.or.b32 %r4, [%rd1], 0;
  nanosleep.u32 %r3;
  mad.lo.u32 %r3, %r3, 5, 1;
  setp.eq.u32 %p1, %r4, 0;
  @%p1 bra $spin;)",
                  20'000);
}

// As compilers for blocks of threads write it: one thread asks, all learn the answer.
const std::string asks_for_all = R"(
$spin:
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra $all;
  atom.global.add.u32 %r4, [%rd1], 0;
  st.shared.u32 [flag], %r4;
$all:
  bar.sync 0;
  ld.shared.u32 %r5, [flag];
  bar.sync 0;
  add.u32 %r2, %r2, 1;
  setp.eq.u32 %p1, %r5, 0;
  @%p1 bra $spin;)";

TEST(Spin, BarriersAndSharedMemoryInTheLoopAreNoChange) { expect_deadlock(asks_for_all, 2'000'000); }

TEST(Spin, ALoopThatAnotherCtaEndsIsNoDeadlock) {
  for (RunOptions o : schedules()) {
    o.quantum = 500;  // many boundaries before the end
    std::vector<uint32_t> word(1), out(1);
    PtxRunner runner(spinning(R"(
  mov.u32 %r6, %ctaid.x;
  setp.eq.u32 %p3, %r6, 0;
  @%p3 bra $spin;
$later:
  ld.volatile.shared.u32 %r7, [flag];
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p4, %r2, 30000;
  @%p4 bra $later;
  atom.global.exch.b32 %r7, [%rd1], 1;
  bra $end;)" + asks_for_all));
    runner.shape({2, 1, 1}, {64, 1, 1}).array(word).array(out).run_clean(o);
    EXPECT_NE(out[0], 0U);
  }
}

TEST(Spin, ALoopThatGivesUpIsNoDeadlock) {
  for (const RunOptions& o : schedules()) {
    std::vector<uint32_t> word(1), out(1);
    PtxRunner runner(spinning(R"(
$spin:
  atom.global.add.u32 %r4, [%rd1], 0;
  add.u32 %r2, %r2, 1;
  setp.ge.u32 %p2, %r2, 5000;
  @%p2 bra $gives_up;
  setp.eq.u32 %p1, %r4, 0;
  @%p1 bra $spin;
$gives_up:)"));
    runner.shape({1, 1, 1}, {64, 1, 1}).array(word).array(out).run_clean(o);
    EXPECT_EQ(out[0], 5000U);
  }
}

// The counter decides through memory.
TEST(Spin, ALoopThatCountsInSharedMemoryIsNoDeadlock) {
  for (const RunOptions& o : schedules()) {
    std::vector<uint32_t> word(1), out(1);
    PtxRunner runner(spinning(R"(
  st.shared.u32 [flag], %r2;
$spin:
  atom.global.add.u32 %r4, [%rd1], 0;
  ld.shared.u32 %r2, [flag];
  bar.sync 0;
  add.u32 %r2, %r2, 1;
  st.shared.u32 [flag], %r2;
  bar.sync 0;
  setp.lt.u32 %p1, %r2, 3000;
  @%p1 bra $spin;)"));
    runner.shape({1, 1, 1}, {64, 1, 1}).array(word).array(out).run_clean(o);
    EXPECT_EQ(out[0], 3000U);
  }
}

}  // namespace
}  // namespace palladion::sim::testing
