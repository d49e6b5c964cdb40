// The machine as a user meets it: launches, divergence, barriers, calls, faults, deadlocks.
#include <numeric>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

const char* const store_tid = R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 96, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
})";

TEST(Machine, EveryThreadOfEveryCtaRuns) {
  std::vector<uint32_t> out(96 * 5, ~0U);
  const RunResult r = PtxRunner(ptx(store_tid)).array(out).shape({5, 1, 1}, {96, 1, 1}).run_clean();
  std::vector<uint32_t> expected(out.size());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(out, expected);
  EXPECT_EQ(r.ctas, 5U);
  EXPECT_EQ(r.instructions, 5U * 3 * 8);
}

TEST(Machine, DivergedLanesMeetAgain) {
  // Each lane loops tid times, then all lanes shuffle: that needs them together.
  std::vector<uint32_t> out(32);
  PtxRunner(ptx(R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
$loop:
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra $done;
  add.u32 %r3, %r3, %r2;
  add.u32 %r2, %r2, 1;
  bra $loop;
$done:
  shfl.sync.bfly.b32 %r4, %r3, 1, 0x1f, 0xffffffff;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
  ret;
})"))
      .array(out)
      .run_clean();
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], (i ^ 1) * ((i ^ 1) - 1) / 2) << i;
}

const char* const reduce_shared = R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .shared .align 4 .b8 buffer[1024];
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r2, [%rd4];
  mov.u32 %r3, buffer;
  shl.b32 %r4, %r1, 2;
  add.u32 %r5, %r3, %r4;
  st.shared.u32 [%r5], %r2;
  mov.u32 %r6, 128;
$loop:
  bar.sync 0;
  setp.ge.u32 %p1, %r1, %r6;
  @%p1 bra $skip;
  shl.b32 %r7, %r6, 2;
  add.u32 %r8, %r5, %r7;
  ld.shared.u32 %r9, [%r8];
  ld.shared.u32 %r10, [%r5];
  add.u32 %r10, %r10, %r9;
  st.shared.u32 [%r5], %r10;
$skip:
  shr.u32 %r6, %r6, 1;
  setp.ne.u32 %p2, %r6, 0;
  @%p2 bra $loop;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 ret;
  st.global.u32 [%rd2], %r10;
  ret;
})";

TEST(Machine, SharedMemoryReductionUnderEverySchedule) {
  for (const RunOptions& o : every_schedule()) {
    std::vector<uint32_t> in(256), out(1);
    std::iota(in.begin(), in.end(), 1);
    PtxRunner(ptx(reduce_shared)).array(in).array(out).shape({1, 1, 1}, {256, 1, 1}).run_clean(o);
    EXPECT_EQ(out[0], 256U * 257 / 2) << name(o.schedule);
  }
}

TEST(Machine, CallsCopyArgumentsAndResults) {
  std::vector<uint32_t> out(32);
  PtxRunner(ptx(R"(
.func (.param .b32 result) twice_plus(.param .b32 a, .param .b32 b) {
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [a];
  ld.param.u32 %r2, [b];
  mad.lo.u32 %r3, %r1, 2, %r2;
  st.param.b32 [result], %r3;
  ret;
}
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 100;
  {
    .param .b32 p0; .param .b32 p1; .param .b32 r0;
    st.param.b32 [p0], %r1;
    st.param.b32 [p1], %r2;
    call.uni (r0), twice_plus, (p0, p1);
    ld.param.b32 %r3, [r0];
  }
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
})"))
      .array(out)
      .run_clean();
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 2 * i + 100);
}

const char* const producer_consumer = R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .shared .align 8 .b64 full;
  .shared .align 16 .b8 data[512];
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, full;
  mov.u32 %r3, data;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $ready;
  mbarrier.init.shared.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
$ready:
  bar.sync 0;
  @%p1 bra $wait;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 512, [%r2];
$wait:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
  @!%p2 bra $wait;
  shl.b32 %r4, %r1, 2;
  add.u32 %r5, %r3, %r4;
  ld.shared.u32 %r6, [%r5];
  add.u32 %r6, %r6, 7;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r6;
  ret;
})";

TEST(Machine, BulkCopyCompletesAnMbarrierUnderEverySchedule) {
  for (const RunOptions& o : every_schedule()) {
    std::vector<uint32_t> in(128), out(128);
    std::iota(in.begin(), in.end(), 1000);
    PtxRunner(ptx(producer_consumer)).array(in).array(out).shape({1, 1, 1}, {128, 1, 1}).run_clean(o);
    for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], in[i] + 7) << name(o.schedule);
  }
}

TEST(Machine, ReadOutOfBoundsNamesTheArray) {
  std::vector<uint32_t> out(95);
  RunResult r = PtxRunner(ptx(store_tid)).array(out, "out").shape({1, 1, 1}, {96, 1, 1}).run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3022");
  EXPECT_TRUE(r.findings[0].fatal);
  ASSERT_EQ(r.findings[0].message.phrase, Phrase::outside_global);
  const auto& where = std::get<Statement>(r.findings[0].message.values.back());
  EXPECT_EQ(where, say<Phrase::past_array>(std::get<int64_t>(where.values.at(0)), 0, "out", 380));
  EXPECT_EQ(r.findings[0].message, say<Phrase::outside_global>("write", 4, where));
  EXPECT_EQ(r.findings[0].help, say<Phrase::guard_the_access>());
  EXPECT_EQ(r.findings[0].sites[0].warp, 2U);
  EXPECT_FALSE(r.completed);
}

TEST(Machine, MisalignedAccessIsAFault) {
  std::vector<uint32_t> out(8);
  RunResult r = PtxRunner(ptx(R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<2>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  add.s64 %rd2, %rd1, 2;
  ld.global.u32 %r1, [%rd2];
  ret;
})"))
                    .array(out)
                    .run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3024");
}

TEST(Machine, WaitThatCannotEndIsReportedAtOnce) {
  RunResult r = PtxRunner(ptx(R"(
.visible .entry k() {
  .shared .align 8 .b64 bar;
  .reg .pred %p<2>; .reg .b32 %r<3>;
  mov.u32 %r1, bar;
  mbarrier.init.shared.b64 [%r1], 2;
  mbarrier.arrive.shared.b64 _, [%r1];
$wait:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
  @!%p1 bra $wait;
  ret;
})"))
                    .shape({1, 1, 1}, {1, 1, 1})
                    .run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3080");
  ASSERT_TRUE(r.findings[0].sites[0].wait);
  EXPECT_EQ(r.findings[0].sites[0].wait->expected_arrivals, 2u);
  EXPECT_EQ(r.findings[0].sites[0].wait->pending_arrivals, 1u);
}

TEST(Machine, BarrierThatSomeThreadsSkipIsADeadlock) {
  RunResult r = PtxRunner(ptx(R"(
.visible .entry k() {
  .reg .pred %p<2>; .reg .b32 %r<3>;
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra $other;
  bar.sync 1, 64;
  ret;
$other:
  bar.sync 2, 64;
  ret;
})"))
                    .shape({1, 1, 1}, {64, 1, 1})
                    .run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3080");
  EXPECT_EQ(r.findings[0].sites.size(), 2U);
  ASSERT_TRUE(r.findings[0].sites[0].wait);
  EXPECT_EQ(r.findings[0].sites[0].wait->object.number, 1u);
  EXPECT_EQ(r.findings[0].sites[0].wait->expected_arrivals, 64u);
  EXPECT_EQ(r.findings[0].sites[0].wait->pending_arrivals, 32u);
}

const char* const flag_across_ctas = R"(
.visible .entry k(.param .u64 flag, .param .u64 data, .param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [flag];
  ld.param.u64 %rd2, [data];
  ld.param.u64 %rd3, [out];
  mov.u32 %r1, %ctaid.x;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra $wait;
  setp.eq.u32 %p1, %r1, 1;
  @%p1 st.global.u32 [%rd2], 42;
  red.release.gpu.global.add.u32 [%rd1], 1;
  ret;
$wait:
  ld.acquire.gpu.global.u32 %r2, [%rd1];
  setp.ne.u32 %p2, %r2, 3;
  @%p2 bra $wait;
  ld.global.u32 %r3, [%rd2];
  st.global.u32 [%rd3], %r3;
  ret;
})";

TEST(Machine, CtasCommunicateThroughGlobalMemory) {
  for (RunOptions o : every_schedule()) {
    for (const unsigned threads : {1U, 2U}) {
      o.threads = threads;
      std::vector<uint32_t> flag(1), data(1), out(1);
      PtxRunner(ptx(flag_across_ctas))
          .array(flag)
          .array(data)
          .array(out)
          .shape({4, 1, 1}, {1, 1, 1})
          .run_clean(o);
      EXPECT_EQ(out[0], 42U);
      EXPECT_EQ(flag[0], 3U);
    }
  }
}

TEST(Machine, SpinOnAFlagThatNoThreadSetsIsReported) {
  std::vector<uint32_t> flag(1), data(1), out(1);
  RunResult r =
      PtxRunner(ptx(flag_across_ctas)).array(flag).array(data).array(out).shape({2, 1, 1}, {1, 1, 1}).run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3080");
}

TEST(Machine, LaunchesThatCannotBeAreRefused) {
  std::vector<uint32_t> out(1024);
  const auto code = [&](isa::Dim3 grid, isa::Dim3 block, isa::Dim3 cluster, uint32_t shared) {
    PtxRunner k(ptx(store_tid));
    k.array(out).shape(grid, block, cluster);
    k.launch.dynamic_shared = shared;
    const RunResult r = k.run();
    return r.errors.empty() ? std::string("none") : r.errors[0].code.name();
  };
  EXPECT_EQ(code({1, 1, 1}, {2048, 1, 1}, {}, 0), "PLD3101");
  EXPECT_EQ(code({3, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0), "PLD3103");
  EXPECT_EQ(code({32, 1, 1}, {32, 1, 1}, {32, 1, 1}, 0), "PLD3104");
  EXPECT_EQ(code({1, 1, 1}, {32, 1, 1}, {}, 228 * 1024), "PLD3108");
  EXPECT_EQ(code({1, 1, 1}, {32, 1, 1}, {}, 227 * 1024), "none");
  // How many registers ptxas takes is estimated: that refuses no launch, whatever the number of warps.
  for (uint32_t threads = 32; threads <= 1024; threads += 32)
    EXPECT_EQ(code({1, 1, 1}, {threads, 1, 1}, {}, 0), "none") << threads << " threads";
}

TEST(Machine, PrintfWritesInThreadOrder) {
  const RunResult r = PtxRunner(ptx(R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 fmt[14] = {116, 104, 114, 101, 97, 100, 32, 37, 100, 32, 37, 102, 10, 0};
.visible .entry k() {
  .local .align 8 .b8 args[16];
  .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .f64 %fd<2>;
  mov.u64 %rd1, args;
  cvta.local.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  st.local.u32 [%rd1], %r1;
  mov.f64 %fd1, 0d3FF8000000000000;
  st.local.f64 [%rd1+8], %fd1;
  mov.u64 %rd3, fmt;
  cvta.global.u64 %rd4, %rd3;
  {
    .param .b64 p0; .param .b64 p1; .param .b32 r0;
    st.param.b64 [p0], %rd4;
    st.param.b64 [p1], %rd2;
    call.uni (r0), vprintf, (p0, p1);
    ld.param.b32 %r2, [r0];
  }
  ret;
})"))
                          .shape({1, 1, 1}, {2, 1, 1})
                          .run_clean();
  EXPECT_EQ(r.printed, "thread 0 1.500000\nthread 1 1.500000\n");
}

// ptxas 13.0: `.maxntid 256 .minnctapersm 1` alone gives 255 registers at entry, with a largest
// setmaxnreg.inc of 232 it gives 232.

}  // namespace
}  // namespace palladion::sim::testing
