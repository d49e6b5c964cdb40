// Cluster launch control: every cluster's work is done once, by itself or by one that took it over.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "sim/check/checker.h"
#include "sim/snapshot.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

// done[i] counts how often CTA i's work was done, doer[i] is the CTA that did it. Each cluster asks until it
// is refused; CTA 0 asks for all of its cluster.
std::string workers(bool pair, const std::string& after_refusal = {}) {
  const std::string multicast = pair ? ".multicast::cluster::all" : "";
  return R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 done, .param .u64 doer) {
  .shared .align 16 .b8 answer[16];
  .shared .align 8 .b64 bar;
  .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .b128 %q;
  ld.param.u64 %rd0, [done];
  ld.param.u64 %rd1, [doer];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, bar;
  mov.u32 %r2, answer;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, 0;
  mov.u32 %r5, %cluster_ctarank;
  mov.u32 %r6, %ctaid.x;
  setp.eq.u32 %p0, %r0, 0;
  or.b32 %r7, %r0, %r5;
  setp.eq.u32 %p3, %r7, 0;
  @%p0 mbarrier.init.shared.b64 [%r1], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
loop:
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd0, %rd2;
  add.u64 %rd4, %rd1, %rd2;
  @%p0 red.global.add.u32 [%rd3], 1;
  @%p0 st.global.u32 [%rd4], %r6;
  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16;
  fence.proxy.async;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  @%p3 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes)" +
         multicast + R"(.b128 [%r2], [%r1];
wait:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r4;
  @!%p1 bra wait;
  xor.b32 %r4, %r4, 1;
  ld.shared.b128 %q, [%r2];
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;
  @!%p2 bra refused;
  clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r3, %r8, %r9, _}, %q;
  add.u32 %r3, %r3, %r5;
  bra loop;
refused:
)" + after_refusal +
         "  ret;\n}\n";
}

struct Outcome {
  RunResult result;
  std::vector<uint32_t> done, doer;
};

Outcome run(uint32_t ctas, bool pair, RunOptions options, const std::string& after_refusal = {}) {
  Outcome o;
  o.done.assign(ctas, 0);
  o.doer.assign(ctas, 0);
  PtxRunner runner(workers(pair, after_refusal), *isa::find_arch("b200"));
  const uint32_t cluster = pair ? 2 : 1;
  runner.array(o.done).array(o.doer).shape({ctas, 1, 1}, {64, 1, 1}, {cluster, 1, 1});
  runner.launch.dynamic_shared = 100000;  // two CTAs an SM
  o.result = runner.run(options);
  return o;
}

TEST(ClusterLaunch, AllWorkIsDoneOnceUnderEverySchedule) {
  for (const bool pair : {false, true})
    for (RunOptions options : every_schedule()) {
      options.resident_clusters = 3;
      const Outcome o = run(40, pair, options);
      ASSERT_TRUE(o.result.clean()) << PtxRunner::describe(o.result);
      EXPECT_TRUE(o.result.completed);
      EXPECT_EQ(o.done, std::vector<uint32_t>(40, 1));
      // Clusters that were taken over have not run.
      EXPECT_LT(o.result.ctas, 40U);
    }
}

TEST(ClusterLaunch, WhoDoesWhatIsIndependentOfTheHostsThreads) {
  RunOptions options;
  options.resident_clusters = 5;
  options.threads = 1;
  const Outcome one = run(64, false, options);
  EXPECT_EQ(one.result.ctas, 5U);
  for (const unsigned threads : {2U, 4U}) {
    options.threads = threads;
    EXPECT_EQ(run(64, false, options).doer, one.doer);
  }
}

TEST(ClusterLaunch, WorksUnderTheClock) {
  RunOptions options;
  options.schedule = *schedule_named("hardware");
  for (const bool pair : {false, true}) {
    options.threads = 1;
    const Outcome one = run(1000, pair, options);
    ASSERT_TRUE(one.result.clean()) << PtxRunner::describe(one.result);
    EXPECT_EQ(one.done, std::vector<uint32_t>(1000, 1));
    EXPECT_LT(one.result.ctas, 1000U);
    options.threads = 2;
    const Outcome two = run(1000, pair, options);
    EXPECT_EQ(two.doer, one.doer);
    EXPECT_EQ(two.result.clock.cycles, one.result.clock.cycles);
  }
}

TEST(ClusterLaunch, AnswersAreKnownInRunsWithoutValues) {
  RunOptions options;
  options.values = Values::none;
  options.resident_clusters = 3;
  const Outcome o = run(40, true, options);
  EXPECT_TRUE(o.result.clean()) << PtxRunner::describe(o.result);
  EXPECT_TRUE(o.result.completed);
  EXPECT_EQ(o.result.ctas, 6U);
}

TEST(ClusterLaunch, ASnapshotRemembersWhoHasWhat) {
  Outcome o;
  o.done.assign(24, 0);
  o.doer.assign(24, 0);
  PtxRunner runner(workers(false), *isa::find_arch("b200"));
  runner.array(o.done).array(o.doer).shape({24, 1, 1}, {64, 1, 1}, {1, 1, 1});
  RunOptions options;
  options.resident_clusters = 2;
  sim::Run r = runner.machine().start(runner.launch, options);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(r.advance());
  const Snapshot snapshot = r.snapshot();
  while (r.advance()) {
  }
  const std::vector<uint32_t> first = o.doer;
  EXPECT_EQ(o.done, std::vector<uint32_t>(24, 1));
  r.restore(snapshot);
  while (r.advance()) {
  }
  EXPECT_EQ(o.done, std::vector<uint32_t>(24, 1));
  EXPECT_EQ(o.doer, first);
}

TEST(ClusterLaunch, NothingIsLeftWhenAllClustersAreResident) {
  const Outcome o = run(8, false, {});
  EXPECT_TRUE(o.result.clean()) << PtxRunner::describe(o.result);
  EXPECT_EQ(o.result.ctas, 8U);
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(o.doer[i], i);
}

std::string code_of(const Outcome& o) {
  return o.result.findings.empty() ? "none" : o.result.findings[0].code.name();
}

TEST(ClusterLaunch, WhatTheManualLeavesUndefinedIsAFault) {
  const Outcome again =
      run(2, false, {},
          "  @%p3 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
          "[%r2], [%r1];\n");
  EXPECT_EQ(code_of(again), "PLD3141");
}

// PTX leaves the first CTA of a refusal undefined; shipped kernels ask for it and drop it.
TEST(ClusterLaunch, TheFirstCtaOfARefusalIsAMistakeWhereItIsUsed) {
  const std::string decode = "  clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r3, %q;\n";
  const auto severities = [](const std::string& after) {
    check::Checker checker;
    RunOptions options;
    options.observer = &checker;
    std::vector<FindingSeverity> out;
    for (const Finding& f : run(2, false, options, after).result.findings)
      if (f.code == "PLD4808") out.push_back(f.severity);
    return out;
  };
  using S = std::vector<FindingSeverity>;
  EXPECT_TRUE(run(2, false, {}, decode).result.completed);
  EXPECT_EQ(severities(decode), S{FindingSeverity::strict});
  EXPECT_EQ(severities(decode + "  selp.u32 %r3, %r3, 7, %p2;\n  @%p0 st.global.u32 [%rd4], %r3;\n"),
            S{FindingSeverity::strict})
      << "not selected";
  EXPECT_EQ(severities(decode + "  @%p0 st.global.u32 [%rd4], %r3;\n"), S{FindingSeverity::error});
  EXPECT_EQ(severities("  @%p2" + decode.substr(1)), S{}) << "executed for answers alone";
}

TEST(ClusterLaunch, TheAnswerNeedsSixteenAlignedBytes) {
  std::string text = workers(false);
  text.replace(text.find("mov.u32 %r2, answer;"), 20, "mov.u32 %r2, answer+8;");
  std::vector<uint32_t> done(2), doer(2);
  PtxRunner runner(text, *isa::find_arch("b200"));
  runner.array(done).array(doer).shape({2, 1, 1}, {64, 1, 1}, {1, 1, 1});
  const RunResult r = runner.run();
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].code, "PLD3140");
}

// --- tensor memory of an SM -------------------------------------------------------------------------------

// Each CTA allocates `columns`, keeps its number there for a while and gives them back.
std::string allocating(int columns) {
  return fmt::format(R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out) {{
  .shared .align 4 .b32 slot;
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, slot;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], {0};
  ld.shared.b32 %r2, [%r1];
  mov.u32 %r3, %ctaid.x;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {{%r3}};
  tcgen05.wait::st.sync.aligned;
  mov.u32 %r5, 0;
turn:
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 3000;
  @%p1 bra turn;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r4}}, [%r2];
  tcgen05.wait::ld.sync.aligned;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, {0};
  ld.param.u64 %rd0, [out];
  mul.wide.u32 %rd1, %r3, 8;
  add.u64 %rd0, %rd0, %rd1;
  setp.eq.u32 %p0, %r0, 0;
  @%p0 st.global.v2.u32 [%rd0], {{%r4, %r2}};
  ret;
}}
)",
                     columns);
}

void expect_shared_columns(int columns, size_t places) {
  constexpr uint32_t ctas = 600;  // more than one an SM
  RunOptions options;
  options.schedule = *schedule_named("hardware");
  std::vector<uint32_t> out(2 * ctas);
  PtxRunner runner(allocating(columns), *isa::find_arch("b200"));
  runner.array(out).shape({ctas, 1, 1}, {32, 1, 1});
  const RunResult r = runner.run(options);
  ASSERT_TRUE(r.clean()) << PtxRunner::describe(r);
  std::vector<uint32_t> addresses;
  for (uint32_t i = 0; i < ctas; ++i) {
    EXPECT_EQ(out[2 * i], i);
    addresses.push_back(out[2 * i + 1]);
  }
  std::ranges::sort(addresses);
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  EXPECT_EQ(addresses.size(), places);
}

TEST(TensorMemoryOfAnSm, ResidentCtasShareItsColumns) {
  expect_shared_columns(128, 4);
  expect_shared_columns(256, 2);
}
TEST(TensorMemoryOfAnSm, AnAllocationWaitsUntilAnotherCtaFrees) { expect_shared_columns(512, 1); }

// One CTA of a pair waits for the other.
TEST(TensorMemoryOfAnSm, APairAllocatesTogether) {
  std::string text = allocating(256);
  for (size_t at = text.find("cta_group::1"); at != std::string::npos; at = text.find("cta_group::1"))
    text.replace(at, 12, "cta_group::2");
  std::vector<uint32_t> out(4);
  PtxRunner both(text, *isa::find_arch("b200"));
  both.array(out).shape({2, 1, 1}, {32, 1, 1}, {2, 1, 1});
  const RunResult r = both.run();
  EXPECT_TRUE(r.clean()) << PtxRunner::describe(r);
  EXPECT_THAT(out, ::testing::ElementsAre(0, 0, 1, 0));
  text.replace(text.find("  tcgen05.alloc"), 2,
               "  setp.eq.u32 %p2, %r0, %r0;\n  mov.u32 %r6, %cluster_ctarank;\n"
               "  setp.ne.u32 %p2, %r6, 0;\n  @%p2 exit;\n  ");
  PtxRunner one(text, *isa::find_arch("b200"));
  one.array(out).shape({2, 1, 1}, {32, 1, 1}, {2, 1, 1});
  const RunResult alone = one.run();
  ASSERT_EQ(alone.findings.size(), 1U);
  EXPECT_EQ(alone.findings[0].code, "PLD3080");
  ASSERT_TRUE(alone.findings[0].sites[0].wait);
  EXPECT_TRUE(alone.findings[0].sites[0].wait->by_peer);
}

}  // namespace
}  // namespace palladion::sim::testing
