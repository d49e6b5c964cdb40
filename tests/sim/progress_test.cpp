// Threads of one warp make progress on their own, and meet where PTX lets them.
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

TEST(Progress, LanesShuffleFromTwoCopiesOfTheInstruction) {
  // A compiler duplicated the shuffle into both branches; the mask names all lanes.
  for (const RunOptions& o : every_schedule()) {
    std::vector<uint32_t> out(32);
    PtxRunner(ptx(R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra $low;
  add.u32 %r2, %r1, 100;
  shfl.sync.bfly.b32 %r3, %r2, 16, 0x1f, 0xffffffff;
  bar.warp.sync 0xffffffff;
  bra $store;
$low:
  add.u32 %r4, %r1, 1000;
  shfl.sync.bfly.b32 %r3, %r4, 16, 0x1f, 0xffffffff;
  bar.warp.sync 0xffffffff;
  add.u32 %r2, %r4, 0;
$store:
  add.u32 %r3, %r3, %r2;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
})"))
        .array(out)
        .run_clean(o);
    for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i + (i ^ 16) + 1100) << i << ' ' << name(o.schedule);
  }
}

TEST(Progress, LanesThatSpinLetTheOthersRun) {
  for (const RunOptions& o : every_schedule()) {
    std::vector<uint32_t> out(1);
    PtxRunner(ptx(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 4 .b32 flag;
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, flag;
  mov.u32 %r3, 0;
  st.shared.u32 [%r2], %r3;
  bar.warp.sync 0xffffffff;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra $set;
$spin:
  ld.volatile.shared.u32 %r4, [%r2];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra $spin;
  st.global.u32 [%rd1], %r4;
  ret;
$set:
  mov.u32 %r5, 7;
  st.volatile.shared.u32 [%r2], %r5;
  ret;
})"))
        .array(out)
        .run_clean(o);
    EXPECT_EQ(out[0], 7U) << name(o.schedule);
  }
}

TEST(Progress, ManyStrongLoadsInARowAreNoDeadlock) {
  std::vector<uint32_t> out(1), flag(1);
  PtxRunner(ptx(R"(
.visible .entry k(.param .u64 out, .param .u64 flag) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [flag];
  mov.u32 %r1, 0;
$again:
  ld.relaxed.gpu.global.u32 %r2, [%rd2];
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 30000;
  @%p1 bra $again;
  st.global.u32 [%rd1], %r1;
  ret;
})"))
      .array(out)
      .array(flag)
      .run_clean();
  EXPECT_EQ(out[0], 30000U);
}

TEST(Progress, TryWaitGivesUpWhenOnlyItsOwnThreadCanArrive) {
  std::vector<uint32_t> out(2, 9);
  PtxRunner(ptx(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 8 .b64 bar;
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, bar;
  mbarrier.init.shared.b64 [%r1], 1;
  mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
  selp.u32 %r2, 1, 0, %p1;
  st.global.u32 [%rd1], %r2;
  mbarrier.arrive.shared.b64 _, [%r1];
  mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
  selp.u32 %r3, 1, 0, %p2;
  st.global.u32 [%rd1+4], %r3;
  ret;
})"))
      .array(out)
      .shape({1, 1, 1}, {1, 1, 1})
      .run_clean();
  EXPECT_EQ(out, (std::vector<uint32_t>{0, 1}));
}

// A try_wait of a phase that never completes, `body` around it; under the clock.
RunResult time_out(std::vector<uint32_t>& out, const std::string& body) {
  RunOptions o;
  o.schedule = *schedule_named("hardware");
  return PtxRunner(ptx(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 8 .b64 bar;
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, bar;
  mov.u32 %r2, 0;
  mbarrier.init.shared.b64 [%r1], 1;
)" + body + R"(
  st.global.u32 [%rd1], %r2;
  ret;
})"))
      .array(out)
      .run(o);
}

TEST(Progress, WaitsThatAreCountedTimeOutAgainAndAgain) {
  std::vector<uint32_t> out(1);
  const RunResult r = time_out(out, R"(
$again:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 6;
  @%p2 bra $again;)");
  EXPECT_TRUE(r.clean());
  EXPECT_EQ(out[0], 6U);
  EXPECT_GT(r.clock.cycles, 6U * 3800);
}

TEST(Progress, WaitsThatAreRepeatedForEverAreADeadlock) {
  std::vector<uint32_t> out(1);
  const RunResult r = time_out(out, R"(
$again:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
  @!%p1 bra $again;)");
  EXPECT_FALSE(r.clean());
  EXPECT_LT(r.clock.cycles, 20U * 3884);
}

TEST(Progress, PollingLetsACopyLand) {
  for (const RunOptions& o : every_schedule()) {
    std::vector<uint32_t> in(4, 77), out(1);
    PtxRunner(ptx(R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .shared .align 8 .b64 bar;
  .shared .align 16 .b8 data[16];
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, bar;
  mov.u32 %r2, data;
  mbarrier.init.shared.b64 [%r1], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 16, [%r1];
$poll:
  mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0;
  @!%p1 bra $poll;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%rd2], %r3;
  ret;
})"))
        .array(in)
        .array(out)
        .shape({1, 1, 1}, {1, 1, 1})
        .run_clean(o);
    EXPECT_EQ(out[0], 77U) << name(o.schedule);
  }
}

TEST(Progress, CallsThroughATableOfFunctions) {
  std::vector<uint32_t> out(32);
  PtxRunner(ptx(R"(
.func (.param .b32 r) plus(.param .b32 a) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [a];
  add.u32 %r2, %r1, 5;
  st.param.b32 [r], %r2;
  ret;
}
.global .align 8 .u64 table[2] = {plus, 0};
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  ld.global.u64 %rd2, [table];
  {
    .param .b32 p0; .param .b32 r0;
    st.param.b32 [p0], %r1;
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r0), %rd2, (p0), prototype;
    ld.param.b32 %r2, [r0];
  }
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  st.global.u32 [%rd4], %r2;
  ret;
})"))
      .array(out)
      .run_clean();
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i + 5);
}

}  // namespace
}  // namespace palladion::sim::testing
