// Skeletons that the machine's events give, and what is said about the runs they were taken from.
#include <gtest/gtest.h>

#include "sim/explore/decide.h"
#include "sim/explore/forced.h"
#include "sim/explore/report.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::tests {
namespace {

using namespace sim::check;

std::string recorded_kernel(const std::string& declarations, const std::string& body) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n" + declarations +
         ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n" + body + "ret;\n}\n";
}

// Warp 0 fills, warp 1 empties, `steps` times through one mbarrier each way; all lanes wait, the elected
// lane arrives. `empty` begins with a wait for phase -1.
std::string ring(const std::string& after_wait) {
  return recorded_kernel(".shared .align 8 .b64 full;\n.shared .align 8 .b64 empty;\n", R"(
mov.u32 %r0, %tid.x;
shr.u32 %r1, %r0, 5;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra INIT;
mbarrier.init.shared::cta.b64 [full], 1;
mbarrier.init.shared::cta.b64 [empty], 1;
INIT:
bar.sync 0;
mov.u32 %r2, 0;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra CONSUME;
PRODUCE:
and.b32 %r3, %r2, 1;
xor.b32 %r4, %r3, 1;
W0:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [empty], %r4;
@!%p2 bra W0;
)" + after_wait + R"(
setp.eq.u32 %p3, %r0, 0;
@%p3 mbarrier.arrive.shared::cta.b64 _, [full];
add.u32 %r2, %r2, 1;
setp.lt.u32 %p4, %r2, 3;
@%p4 bra PRODUCE;
bra END;
CONSUME:
and.b32 %r3, %r2, 1;
W1:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], %r3;
@!%p2 bra W1;
)" + after_wait + R"(
setp.eq.u32 %p3, %r0, 32;
@%p3 mbarrier.arrive.shared::cta.b64 _, [empty];
add.u32 %r2, %r2, 1;
setp.lt.u32 %p4, %r2, 3;
@%p4 bra CONSUME;
END:
)");
}

struct Recorded {
  explicit Recorded(const std::string& ptx, isa::Dim3 grid = {1, 1, 1}, isa::Dim3 block = {64, 1, 1})
      : runner(ptx) {
    runner.shape(grid, block);
    result = runner.run({.observer = &observer});
    report = explore_run(observer.recorded());
  }
  const Skeleton& skeleton() const { return observer.recorded().front().skeleton; }

  sim::testing::PtxRunner runner;
  SkeletonObserver observer;
  sim::RunResult result;
  ExploreReport report;
};

uint32_t count(const Skeleton& s, SyncKind kind) {
  uint32_t n = 0;
  for (const SyncThread& t : s.threads)
    for (const SyncOp& op : t.ops) n += op.kind == kind;
  return n;
}

TEST(Recorder, lanes_that_meet_after_a_wait_give_a_forced_ring) {
  const Recorded r(ring("bar.warp.sync 0xffffffff;"));
  ASSERT_TRUE(r.result.clean());
  EXPECT_EQ(r.report.verdict, "all schedules");
  EXPECT_EQ(r.report.forced, 1U);
  EXPECT_TRUE(r.report.findings.empty());
  const Skeleton& s = r.skeleton();
  EXPECT_EQ(count(s, SyncKind::init), 2U);
  EXPECT_EQ(count(s, SyncKind::arrive), 6U);
  EXPECT_EQ(count(s, SyncKind::bar_arrive), 2U);  // whole warps
}

TEST(Recorder, elected_lanes_meet_too) {
  const Recorded r(ring("elect.sync _|%p5, 0xffffffff;"));
  ASSERT_TRUE(r.result.clean());
  EXPECT_EQ(r.report.forced, 1U);
}

TEST(Recorder, lanes_meet_where_the_mask_in_a_register_has_them_all) {  // as CUTLASS writes it
  const Recorded r(ring("mov.b32 %r6, -1;\nelect.sync _|%p5, %r6;"));
  ASSERT_TRUE(r.result.clean());
  EXPECT_EQ(r.report.forced, 1U);
}

TEST(Recorder, lanes_of_a_part_of_the_warp_do_not_meet_the_others) {
  const Recorded r(ring(R"(
and.b32 %r6, %r0, 31;
setp.lt.u32 %p6, %r6, 16;
selp.b32 %r7, 0x0000ffff, 0xffff0000, %p6;
elect.sync _|%p5, %r7;
)"));
  ASSERT_TRUE(r.result.clean());
  EXPECT_EQ(r.report.forced, 0U);
}

TEST(Recorder, lanes_meet_at_movmatrix_too) {
  const Recorded r(ring("movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r2;"));
  ASSERT_TRUE(r.result.clean());
  EXPECT_EQ(r.report.forced, 1U);
  EXPECT_TRUE(r.report.findings.empty());
}

// CuTe DSL's kernels: all arrive at the cluster barrier, shuffle, wait there, and some lanes go on. Each lane
// passes the generation in which it arrived, the second one here.
std::string some_lanes_after_a_cluster_barrier(const std::string& before, const std::string& between) {
  return recorded_kernel(".shared .align 8 .b64 full;\n", R"(
mov.u32 %r0, %tid.x;
setp.ne.u32 %p0, %r0, 0;
and.b32 %r1, %r0, 1;
setp.ne.u32 %p1, %r1, 0;
barrier.cluster.arrive;
barrier.cluster.wait;
)" + before + R"(
barrier.cluster.arrive;
)" + between + R"(
shfl.sync.idx.b32 %r2, %r0, 0, 31, -1;
barrier.cluster.wait;
@%p1 mbarrier.arrive.shared::cta.b64 _, [full];
)");
}

TEST(Recorder, lanes_pass_a_barrier_in_the_generation_in_which_they_arrived) {
  const std::string init = "@!%p0 mbarrier.init.shared::cta.b64 [full], 32;\n";
  const Recorded right(some_lanes_after_a_cluster_barrier(init, ""));
  ASSERT_TRUE(right.result.clean());
  EXPECT_EQ(right.report.forced, 1U);
  EXPECT_TRUE(right.report.findings.empty());
  EXPECT_EQ(right.report.verdict, "all schedules");

  const Recorded wrong(some_lanes_after_a_cluster_barrier("", init));
  EXPECT_EQ(wrong.report.forced, 0U) << "nothing orders the init before arrivals of the other warp";
  ASSERT_FALSE(wrong.report.findings.empty());
  EXPECT_EQ(wrong.report.findings[0].code.name(), "PLD4106");
}

TEST(Recorder, lanes_that_do_not_meet_may_miss_a_phase) {
  const Recorded r(ring(""));
  ASSERT_TRUE(r.result.clean());
  EXPECT_TRUE(r.report.all_schedules);
  EXPECT_EQ(r.report.forced, 0U);
  ASSERT_FALSE(r.report.findings.empty());
  for (const sim::Finding& f : r.report.findings) {
    EXPECT_EQ(f.code, "PLD4115");
    EXPECT_EQ(f.severity, sim::FindingSeverity::strict);
    EXPECT_NE(f.sites.front().instruction.find("try_wait"), std::string::npos);
    EXPECT_EQ(f.object.kind, sim::Object::Kind::mbarrier);
  }
}

// The lanes of each warp wait together: a chip's go on together. Of two warps that wait for one that issues,
// nobody says so.
TEST(Recorder, lanes_that_wait_together_are_decided_under_that_assumption) {
  const auto decision = [](const std::string& text, uint32_t threads) {
    const Recorded r(text, {1, 1, 1}, {threads, 1, 1});
    EXPECT_TRUE(r.result.clean());
    return decide_run(r.observer.recorded(), Coverage{});
  };
  const RunDecision met = decision(ring("bar.warp.sync 0xffffffff;"), 64);
  EXPECT_TRUE(met.decided && met.under && met.under->none());
  const RunDecision apart = decision(ring(""), 64);
  EXPECT_FALSE(apart.decided);
  ASSERT_TRUE(apart.under);
  EXPECT_TRUE(apart.under->warps_together);
  EXPECT_NE(apart.reason.find("can complete before it is executed"), std::string::npos) << apart.reason;
  const RunDecision two = decision(ring(""), 96);  // the third warp consumes as well, and arrives nowhere
  EXPECT_FALSE(two.decided || two.under);
}

// Reductions of global memory are performed at the boundary of a quantum: the cluster ends there.
TEST(Recorder, a_cluster_that_ends_with_a_reduction_in_flight_has_ended) {
  sim::testing::PtxRunner runner(R"(.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 array) {
  .shared .align 16 .b8 tile[16];
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [array];
  mov.u32 %r1, tile;
  mov.u32 %r2, 7;
  st.shared.v4.u32 [%r1], {%r2, %r2, %r2, %r2};
  fence.proxy.async;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0], [%r1], 16;
  cp.async.bulk.commit_group;
  ret;
})");
  std::vector<uint32_t> array(4, 1);
  runner.array(array).shape({2, 1, 1}, {1, 1, 1});
  SkeletonObserver observer;
  EXPECT_TRUE(runner.run({.observer = &observer}).clean());
  EXPECT_EQ(array[3], 15U);
  const RunDecision d = decide_run(observer.recorded(), Coverage{});
  EXPECT_TRUE(d.decided) << d.reason;
}

// Which launches have not started when a CTA asks for one depends on time.
TEST(Recorder, answers_to_requests_for_launches_are_an_assumption) {
  const auto decision = [](const std::string& fill) {
    sim::testing::PtxRunner runner(R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 array) {
  .shared .align 16 .b8 answer[16];
  .shared .align 8 .b64 bar;
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<2>; .reg .b128 %q;
  ld.param.u64 %rd0, [array];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, bar;
  mov.u32 %r2, answer;
  setp.eq.u32 %p0, %r0, 0;
  @%p0 mbarrier.init.shared.b64 [%r1], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16;
  @%p0 )" + fill + R"([%r1];
wait:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
  @!%p1 bra wait;
  ret;
})",
                                   *isa::find_arch("b200"));
    std::vector<uint32_t> array(4);
    runner.array(array).shape({2, 1, 1}, {32, 1, 1});
    SkeletonObserver observer;
    EXPECT_TRUE(runner.run({.observer = &observer}).clean());
    return decide_run(observer.recorded(), Coverage{});
  };
  const RunDecision asked =
      decision("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], ");
  EXPECT_FALSE(asked.decided);
  EXPECT_NE(asked.reason.find("a request to cancel a launch"), std::string::npos) << asked.reason;
  ASSERT_TRUE(asked.under);
  EXPECT_TRUE(asked.under->answers && !asked.under->warps_together);
  const RunDecision copied =
      decision("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 16, ");
  EXPECT_TRUE(copied.decided && copied.under && copied.under->none());
}

TEST(Recorder, clusters_alike_are_kept_once) {
  const Recorded r(ring("bar.warp.sync 0xffffffff;"), {5, 1, 1});
  ASSERT_TRUE(r.result.clean());
  EXPECT_EQ(r.report.clusters, 5U);
  EXPECT_EQ(r.report.skeletons, 1U);
}

TEST(Recorder, barrier_number_of_two_roles_is_found_from_a_clean_run) {
  // Warps 0, 1 and warps 2, 3 meet at barrier 1, each pair for itself.
  const Recorded r(recorded_kernel("", "barrier.sync 1, 64;\n"), {1, 1, 1}, {128, 1, 1});
  ASSERT_TRUE(r.result.completed);
  EXPECT_TRUE(r.report.all_schedules);
  ASSERT_FALSE(r.report.findings.empty());
  EXPECT_EQ(r.report.findings.front().code, "PLD4604");
}

TEST(Recorder, branch_on_a_test_is_frozen) {
  const Recorded r(recorded_kernel(".shared .align 8 .b64 full;\n", R"(
mov.u32 %r0, %tid.x;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra INIT;
mbarrier.init.shared::cta.b64 [full], 1;
INIT:
bar.sync 0;
@%p0 bra END;
mbarrier.test_wait.parity.shared::cta.b64 %p1, [full], 0;
@%p1 bra END;
mbarrier.arrive.shared::cta.b64 _, [full];
END:
)"));
  ASSERT_TRUE(r.result.completed);
  EXPECT_TRUE(r.report.frozen);
  EXPECT_EQ(r.report.verdict, "all schedules of the recorded control flow");
  EXPECT_NE(r.report.coverage.find("test_wait"), std::string::npos);
}

// Warp 1 fills two slots; warp 0 asks early for the second, does `work`, and waits for `slot` if the answer
// was no.
std::string asks_early(const std::string& work, const std::string& slot) {
  return recorded_kernel(".shared .align 8 .b64 full[2];\n.shared .align 4 .b32 data[2];\n", R"(
mov.u32 %r0, %tid.x;
mov.u32 %r10, full;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra INIT;
mbarrier.init.shared::cta.b64 [%r10], 1;
mbarrier.init.shared::cta.b64 [%r10+8], 1;
INIT:
bar.sync 0;
and.b32 %r1, %r0, 31;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra END;
setp.ne.u32 %p2, %r0, 0;
@%p2 bra FILL;
W0:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r10], 0;
@!%p3 bra W0;
ld.shared.u32 %r2, [data];
mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r10+8], 0;
selp.u32 %r3, 1, 0, %p4;
)" + work + R"(
setp.ne.u32 %p5, %r3, 0;
@%p5 bra READ;
W1:
mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r10+)" + slot + R"(], 0;
@!%p6 bra W1;
READ:
ld.shared.u32 %r4, [data+4];
bra END;
FILL:
st.shared.u32 [data], 1;
mbarrier.arrive.shared::cta.b64 _, [%r10];
st.shared.u32 [data+4], 2;
mbarrier.arrive.shared::cta.b64 _, [%r10+8];
END:
)");
}

TEST(Recorder, a_try_wait_that_asks_early_leaves_the_run_decided) {
  const Recorded r(asks_early("add.u32 %r5, %r2, 1;", "8"));
  ASSERT_TRUE(r.result.clean());
  EXPECT_FALSE(r.report.frozen);
  EXPECT_EQ(r.report.verdict, "all schedules");
  EXPECT_EQ(count(r.skeleton(), SyncKind::wait), 2U);  // the question is none
}

// CUTLASS' pipelines ask for a stage behind the last one.
TEST(Recorder, a_try_wait_whose_answer_is_not_used_leaves_the_run_decided) {
  const Recorded r(asks_early("mov.u32 %r3, 0;", "8"));
  ASSERT_TRUE(r.result.clean());
  EXPECT_FALSE(r.report.frozen);
  EXPECT_EQ(r.report.verdict, "all schedules");
  EXPECT_EQ(count(r.skeleton(), SyncKind::wait), 2U);
}

TEST(Recorder, a_try_wait_that_asks_for_another_phase_is_frozen) {
  const Recorded r(asks_early("", "0"));
  ASSERT_TRUE(r.result.completed);
  EXPECT_TRUE(r.report.frozen);
}

TEST(Recorder, run_without_an_end_is_not_decided) {
  const Recorded r(recorded_kernel(".shared .align 8 .b64 full;\n", R"(
mov.u32 %r0, %tid.x;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra INIT;
mbarrier.init.shared::cta.b64 [full], 1;
INIT:
bar.sync 0;
W:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
@!%p2 bra W;
)"));
  EXPECT_FALSE(r.result.completed);
  EXPECT_FALSE(r.report.all_schedules);
  EXPECT_EQ(r.report.verdict.rfind("incomplete", 0), 0U);
}

}  // namespace
}  // namespace palladion::tests
