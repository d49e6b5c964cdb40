// cp.async, linear bulk copies and reductions, st.async, red.async: what lands, when, and which barrier is
// signalled.
#include <bit>
#include <numeric>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

using Words = std::vector<uint32_t>;

Words iota(size_t n, uint32_t first) {
  Words v(n);
  std::iota(v.begin(), v.end(), first);
  return v;
}

RunOptions schedule(const char* name) {
  RunOptions o;
  o.schedule = *schedule_named(name);
  return o;
}

// %rd1 in, %rd2 out; %r1 tid, %r2 = buffer, %r3 = buffer + 16 tid; bar = an mbarrier, initialised for 1.
std::string async_copy_kernel(const std::string& body) {
  return ptx(R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .shared .align 8 .b64 bar;
  .shared .align 128 .b8 buffer[8192];
  .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %rd<12>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, buffer;
  mov.u32 %r30, bar;
  mad.lo.u32 %r3, %r1, 16, %r2;
  setp.eq.u32 %p7, %r1, 0;
  @%p7 mbarrier.init.shared.b64 [%r30], 1;
  fence.mbarrier_init.release.cluster;
  mad.wide.u32 %rd3, %r1, 16, %rd1;
  mad.wide.u32 %rd4, %r1, 16, %rd2;
  bar.sync 0;
)" + body + "\n  ret;\n}");
}

// Each lane's 16 bytes of the buffer to out.
const char* const store_row =
    "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3]; st.global.v4.u32 [%rd4], {%r4, %r5, %r6, %r7};";

std::string wait_phase(int parity) {
  return "$w" + std::to_string(parity) + ": mbarrier.try_wait.parity.shared.b64 %p6, [%r30], " +
         std::to_string(parity) + "; @!%p6 bra $w" + std::to_string(parity) + ";";
}

std::string fault_of(const std::string& body, isa::Dim3 grid = {1, 1, 1}, isa::Dim3 cluster = {}) {
  Words in = iota(1024, 0), out(1024);
  const RunResult r =
      PtxRunner(async_copy_kernel(body)).array(in).array(out).shape(grid, {32, 1, 1}, cluster).run();
  return r.findings.empty() ? "none" : r.findings[0].code.name();
}

// --- cp.async -------------------------------------------------------------------------------------
TEST(CpAsync, CopiesAndFillsWithZerosUnderEverySchedule) {
  const std::string body = R"(
  mov.u32 %r8, 0xffffffff;
  st.shared.v4.u32 [%r3], {%r8, %r8, %r8, %r8};
  and.b32 %r9, %r1, 15;
  cp.async.cg.shared.global [%r3], [%rd3], 16, %r9;
  setp.lt.u32 %p1, %r1, 4;
  cp.async.ca.shared.global [%r3+4096], [%rd3], 4;
  cp.async.ca.shared.global [%r3+4104], [%rd3+8], 8, %p1;
  cp.async.wait_all;
  ld.shared.v2.u32 {%r10, %r11}, [%r3+4104];
  ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];
  st.global.v4.u32 [%rd4], {%r4, %r5, %r6, %r11};)";
  for (const RunOptions& o : every_schedule()) {
    Words in = iota(128, 0x01020304), out(128);
    PtxRunner(async_copy_kernel(body)).array(in).array(out).run_clean(o);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint8_t expected[16] = {};
      std::memcpy(expected, &in[4 * lane], lane & 15);
      EXPECT_EQ(std::memcmp(expected, &out[4 * lane], 12), 0) << "lane " << lane << " " << name(o.schedule);
      EXPECT_EQ(out[4 * lane + 3], lane < 4 ? 0 : in[4 * lane + 3]) << name(o.schedule);
    }
  }
}

// Two groups; what the second wait_group argument allows to be pending is not there under `latest`.
TEST(CpAsync, WaitGroupCountsGroups) {
  const auto run = [](const char* wait, const char* when) {
    Words in = iota(128, 100), out(128);
    PtxRunner(async_copy_kernel(std::string(R"(
  cp.async.cg.shared.global [%r3], [%rd3], 16;
  cp.async.commit_group;
  cp.async.cg.shared.global [%r3+4096], [%rd3], 16;
  cp.async.commit_group;
  )") + wait + R"(
  ld.shared.u32 %r4, [%r3];
  ld.shared.u32 %r5, [%r3+4096];
  st.global.v2.u32 [%rd4], {%r4, %r5};
  cp.async.wait_all;)"))
        .array(in)
        .array(out)
        .run_clean(schedule(when));
    return std::pair(out[4], out[5]);
  };
  EXPECT_EQ(run("cp.async.wait_group 0;", "latest"), std::pair(104U, 104U));
  EXPECT_EQ(run("cp.async.wait_group 1;", "latest"), std::pair(104U, 0U));
  EXPECT_EQ(run("cp.async.wait_group 2;", "latest"), std::pair(0U, 0U));
  EXPECT_EQ(run("cp.async.wait_group 2;", "earliest"), std::pair(104U, 104U));
}

TEST(CpAsync, MbarrierArrivesWhenTheCopiesHaveLanded) {
  for (const RunOptions& o : every_schedule()) {
    for (const bool noinc : {false, true}) {
      // noinc: 32 arrivals of the copies are all that the phase expects; else each thread arrives too.
      const std::string body =
          std::string(
              "@%p7 mbarrier.inval.shared.b64 [%r30]; @%p7 mbarrier.init.shared.b64 [%r30], 32; bar.sync "
              "0;") +
          "cp.async.cg.shared.global [%r3], [%rd3], 16;" +
          (noinc ? "cp.async.mbarrier.arrive.noinc.shared.b64 [%r30];"
                 : "cp.async.mbarrier.arrive.shared.b64 [%r30]; mbarrier.arrive.shared.b64 _, [%r30];") +
          wait_phase(0) + store_row;
      Words in = iota(128, 7), out(128);
      PtxRunner(async_copy_kernel(body)).array(in).array(out).run_clean(o);
      EXPECT_EQ(out, in) << name(o.schedule) << noinc;
    }
  }
}

TEST(CpAsync, WrongOperandsAreFaults) {
  EXPECT_EQ(fault_of("add.u32 %r3, %r3, 8; cp.async.cg.shared.global [%r3], [%rd3], 16;"), "PLD3070");
  EXPECT_EQ(fault_of("mov.u32 %r9, 17; cp.async.cg.shared.global [%r3], [%rd3], 16, %r9;"), "PLD3072");
  EXPECT_EQ(fault_of("cp.async.cg.shared.global [%r3], [%rd3+4096], 16;"), "PLD3022");
  EXPECT_EQ(
      fault_of("mov.u32 %r9, 0; cp.async.cg.shared.global [%r3], [%rd3+4096], 16, %r9; cp.async.wait_all;"),
      "none");
}

// --- cp.async.bulk --------------------------------------------------------------------------------
TEST(BulkCopy, SharedToGlobalUnderEverySchedule) {
  const std::string body = R"(
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];
  st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7};
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%p7 bra $end;
  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
$end:)";
  for (const RunOptions& o : every_schedule()) {
    Words in = iota(128, 5), out(128);
    PtxRunner(async_copy_kernel(body)).array(in).array(out).run_clean(o);
    EXPECT_EQ(out, in) << name(o.schedule);
  }
}

// After wait_group.read the source may be overwritten; without the wait the copy may see the new bytes.
TEST(BulkCopy, TheSourceIsReadLaterThanTheIssue) {
  const auto run = [](const std::string& wait, const char* when) {
    Words in = iota(128, 5), out(128);
    PtxRunner(async_copy_kernel(R"(
  mov.u32 %r4, 1;
  st.shared.v4.u32 [%r3], {%r4, %r4, %r4, %r4};
  bar.sync 0;
  @!%p7 bra $end;
  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512;
  cp.async.bulk.commit_group;)" +
                                wait + R"(
  mov.u32 %r4, 2;
  st.shared.u32 [%r2], %r4;
  cp.async.bulk.wait_group 0;
$end:)"))
        .array(in)
        .array(out)
        .run_clean(schedule(when));
    return out[0];
  };
  EXPECT_EQ(run("cp.async.bulk.wait_group.read 0;", "latest"), 1U);
  EXPECT_EQ(run("", "latest"), 2U);
  EXPECT_EQ(run("", "earliest"), 1U);
}

TEST(BulkCopy, MulticastReachesEveryCtaOfTheMask) {
  const std::string body = R"(
  mov.u32 %r8, %cluster_ctarank;
  @%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], 512;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  setp.eq.u32 %p1, %r8, 0;
  and.pred %p1, %p1, %p7;
  mov.u16 %h1, 11;
  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%rd1], 512, [%r30], %h1;
  setp.eq.u32 %p2, %r8, 2;
  @%p2 bra $skip;
)" + wait_phase(0) + R"(
  mad.wide.u32 %rd4, %r8, 512, %rd4;
)" + store_row + R"(
$skip:
  barrier.cluster.arrive;
  barrier.cluster.wait;)";
  for (const RunOptions& o : every_schedule()) {
    Words in = iota(128, 77), out(512);
    PtxRunner(async_copy_kernel(body))
        .array(in)
        .array(out)
        .shape({4, 1, 1}, {32, 1, 1}, {4, 1, 1})
        .run_clean(o);
    for (uint32_t i = 0; i < 512; ++i) EXPECT_EQ(out[i], i / 128 == 2 ? 0 : 77 + i % 128) << name(o.schedule);
  }
}

// Each CTA of a pair writes into, or adds to, the other's buffer and completes the other's mbarrier.
TEST(BulkCopy, BetweenTheCtasOfACluster) {
  for (const bool reduce : {false, true}) {
    const std::string instruction =
        reduce ? "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32"
               : "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes";
    const std::string body = R"(
  mov.u32 %r8, %cluster_ctarank;
  add.u32 %r9, %r8, 10;
  st.shared.v4.u32 [%r3], {%r9, %r9, %r9, %r9};
  st.shared.v4.u32 [%r3+1024], {%r1, %r1, %r1, %r1};
  @%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], 512;
  fence.proxy.async.shared::cta;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  xor.b32 %r10, %r8, 1;
  add.u32 %r11, %r2, 1024;
  mapa.shared::cluster.u32 %r12, %r11, %r10;
  mapa.shared::cluster.u32 %r13, %r30, %r10;
  @%p7 )" + instruction + R"( [%r12], [%r2], 512, [%r13];
)" + wait_phase(0) + R"(
  ld.shared.u32 %r14, [%r3+1024];
  mad.lo.u32 %r15, %r8, 32, %r1;
  mad.wide.u32 %rd5, %r15, 4, %rd2;
  st.global.u32 [%rd5], %r14;
  barrier.cluster.arrive;
  barrier.cluster.wait;)";
    for (const RunOptions& o : every_schedule()) {
      Words in(1), out(64);
      PtxRunner(async_copy_kernel(body))
          .array(in)
          .array(out)
          .shape({2, 1, 1}, {32, 1, 1}, {2, 1, 1})
          .run_clean(o);
      for (uint32_t i = 0; i < 64; ++i)
        EXPECT_EQ(out[i], (i < 32 ? 11U : 10U) + (reduce ? i % 32 : 0)) << name(o.schedule) << instruction;
    }
  }
}

// 512 bytes of the buffer are combined with out; both hold words of the type.
Words reduce_global(const std::string& op, uint32_t memory, uint32_t value) {
  Words in(128, value), out(128, memory);
  PtxRunner(async_copy_kernel(R"(
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];
  st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7};
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%p7 bra $end;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.)" +
                              op + R"( [%rd2], [%r2], 512;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
$end:)"))
      .array(in)
      .array(out)
      .run_clean();
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], out[i % 2]) << op;
  return out;
}

TEST(BulkReduction, EveryType) {
  const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
  EXPECT_EQ(reduce_global("add.f32", bits(1.25F), bits(2.5F))[0], bits(3.75F));
  EXPECT_EQ(reduce_global("add.noftz.f16", 0x3C003C00, 0x3C004000)[0], 0x40004200U);
  EXPECT_EQ(reduce_global("add.noftz.bf16", 0x3F803F80, 0x3F804000)[0], 0x40004040U);
  EXPECT_EQ(reduce_global("max.bf16", 0x3F80C000, 0xBF804000)[0], 0x3F804000U);
  EXPECT_EQ(reduce_global("add.u32", ~0U, 2)[0], 1U);
  EXPECT_EQ(reduce_global("min.s32", 5, ~0U)[0], ~0U);
  EXPECT_EQ(reduce_global("min.u32", 5, ~0U)[0], 5U);
  EXPECT_EQ(reduce_global("inc.u32", 5, 5)[0], 0U);
  EXPECT_EQ(reduce_global("xor.b32", 5, 6)[0], 3U);
  EXPECT_EQ(reduce_global("and.b64", 5, 6)[0], 4U);
  EXPECT_EQ(reduce_global("add.u64", ~0U, 1)[1], 1U);  // a carry reached the upper half
}

// Float sums depend on their order: it must not depend on the host threads.
TEST(BulkReduction, ManyCtasGiveTheSameBitsWithEveryThreadCount) {
  const std::string body = R"(
  mov.u32 %r8, %ctaid.x;
  mad.lo.u32 %r9, %r8, 2654435761, %r1;
  cvt.rn.f32.u32 %f1, %r9;
  st.shared.v4.f32 [%r3], {%f1, %f1, %f1, %f1};
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%p7 bra $end;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd2], [%r2], 512;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
$end:)";
  for (RunOptions o : every_schedule()) {
    Words first;
    for (const unsigned threads : {1U, 2U, 2U}) {
      o.threads = threads;
      Words in(1), out(128);
      PtxRunner(async_copy_kernel(body)).array(in).array(out).shape({96, 1, 1}, {32, 1, 1}).run_clean(o);
      EXPECT_NE(out[0], 0U);
      if (threads == 1) first = out;
      EXPECT_EQ(out, first) << name(o.schedule);
    }
  }
}

TEST(BulkCopy, WrongOperandsAreFaults) {
  const std::string load = "@%p7 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  EXPECT_EQ(fault_of("mov.u32 %r9, 100;" + load + "[%r2], [%rd1], %r9, [%r30];"), "PLD3071");
  EXPECT_EQ(fault_of(load + "[%r2+8], [%rd1], 16, [%r30];"), "PLD3071");
  EXPECT_EQ(fault_of(load + "[%r2], [%rd1+4], 16, [%r30];"), "PLD3071");
  EXPECT_EQ(fault_of(load + "[%r2], [%rd1], 8192, [%r30];"), "PLD3022");
  EXPECT_EQ(fault_of(load + "[%r2+8176], [%rd1], 32, [%r30];"), "PLD3020");
  EXPECT_EQ(fault_of(load + "[%r2], [%rd1], 16, [%r30+4];"), "PLD3074");
  // Never initialised: found when the copy lands.
  EXPECT_EQ(fault_of(load + "[%r2], [%rd1], 16, [%r2+1024];" + wait_phase(0)), "PLD3076");
  const std::string other =
      "mov.u32 %r9, 1; mapa.shared::cluster.u32 %r10, %r30, %r9; mov.u32 %r8, %cluster_ctarank;"
      "setp.eq.u32 %p1, %r8, 0; and.pred %p7, %p7, %p1;";
  EXPECT_EQ(fault_of(other + load + "[%r2], [%rd1], 16, [%r10];", {2, 1, 1}, {2, 1, 1}), "PLD3074");
  EXPECT_EQ(fault_of("mov.u16 %h1, 4; @%p7 "
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                     "[%r2], [%rd1], 16, [%r30], %h1;"),
            "PLD3073");
}

// --- st.async, red.async --------------------------------------------------------------------------
TEST(RemoteStores, LandInTheOtherCtaAndCompleteItsMbarrier) {
  const std::string body = R"(
  mov.u32 %r8, %cluster_ctarank;
  @%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], 384;
  st.shared.u32 [%r3+2048], 1000;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  xor.b32 %r10, %r8, 1;
  mapa.shared::cluster.u32 %r12, %r3, %r10;
  mapa.shared::cluster.u32 %r13, %r30, %r10;
  mad.lo.u32 %r14, %r8, 100, %r1;
  add.u32 %r15, %r14, 5;
  st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r12], {%r14, %r15}, [%r13];
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r12+2048], %r14, [%r13];
)" + wait_phase(0) + R"(
  ld.shared.v2.u32 {%r16, %r17}, [%r3];
  ld.shared.u32 %r18, [%r3+2048];
  mad.wide.u32 %rd5, %r8, 512, %rd4;
  st.global.v4.u32 [%rd5], {%r16, %r17, %r18, %r18};
  barrier.cluster.arrive;
  barrier.cluster.wait;)";
  for (const RunOptions& o : every_schedule()) {
    Words in(1), out(256);
    PtxRunner(async_copy_kernel(body))
        .array(in)
        .array(out)
        .shape({2, 1, 1}, {32, 1, 1}, {2, 1, 1})
        .run_clean(o);
    for (uint32_t i = 0; i < 64; ++i) {
      const uint32_t value = (i < 32 ? 100 : 0) + i % 32;
      EXPECT_EQ(out[4 * i], value) << name(o.schedule);
      EXPECT_EQ(out[4 * i + 1], value + 5) << name(o.schedule);
      EXPECT_EQ(out[4 * i + 2], value + 1000) << name(o.schedule);
    }
  }
}

// An H200 performs a store that lanes of a warp issue with the same operands once; a reduction once a lane.
TEST(AsyncCopiesClock, LanesThatIssueOneStorePayForOne) {
  const auto cycles = [](const std::string& copy, int lanes) {
    Words in(1), out(1024);
    const RunResult r = PtxRunner(async_copy_kernel("  setp.ge.u32 %p1, %r1, " + std::to_string(lanes) +
                                                    ";\n  @%p1 ret;\n  st.shared.u32 [%r2], %r2;\n"
                                                    "  fence.proxy.async.shared::cta;\n  " +
                                                    copy + R"( [%rd2], [%r2], 4096;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;)"))
                            .array(in)
                            .array(out)
                            .run_clean(schedule("hardware"));
    return r.clock.cycles;
  };
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group";
  const std::string reduction = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32";
  EXPECT_EQ(cycles(store, 32), cycles(store, 1));
  EXPECT_GT(cycles(reduction, 32), cycles(reduction, 1) + 1000);
}

}  // namespace
}  // namespace palladion::sim::testing
