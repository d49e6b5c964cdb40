// Named barriers, cluster barriers, lifetimes of shared memory.
#include "tests/sim/check/protocol_run.h"

namespace palladion::sim::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string barrier_kernel(const std::string& body) {
  return R"(
.visible .entry k(.param .u64 array) {
  .shared .align 8 .b64 bar;
  .shared .align 128 .b8 tile[256];
  .reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [array];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  mov.u32 %r3, %cluster_ctarank;
  setp.ne.u32 %p1, %r1, 0;
)" + body +
         "\n}\n";
}

TEST(ProtocolBarriers, TwoGroupsAtOneId) {
  for (const RunOptions& o : every_schedule()) {
    const Checked c = run_checked(barrier_kernel(R"(
  setp.lt.u32 %p2, %r2, 2;
  @%p2 bra $first;
  barrier.sync 1, 64;
  ret;
$first:
  barrier.sync 1, 64;
  ret;)"),
                                  {128, 1, 1}, {}, o);
    EXPECT_THAT(codes(c), Contains("PLD4604")) << name(o.schedule);
  }
}

TEST(ProtocolBarriers, OneIdInTurnsIsSilent) {
  for (const RunOptions& o : every_schedule()) {
    const Checked c = run_checked(barrier_kernel(R"(
  setp.eq.u32 %p2, %r2, 0;
  mov.u32 %r4, 0;
  @%p2 bra $first;
$second:
  barrier.sync 1, 64;
  barrier.arrive 2, 64;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p3, %r4, 3;
  @%p3 bra $second;
  ret;
$first:
  barrier.arrive 1, 64;
  barrier.sync 2, 64;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p3, %r4, 3;
  @%p3 bra $first;
  ret;)"),
                                  {64, 1, 1}, {}, o);
    EXPECT_THAT(codes(c), IsEmpty()) << name(o.schedule) << PtxRunner::describe(c.result);
  }
}

TEST(ProtocolBarriers, ABarrierOfAllThreadsDoesNotWaitForThoseThatExit) {
  for (const RunOptions& o : every_schedule()) {
    const Checked c = run_checked(barrier_kernel(R"(
  setp.eq.u32 %p2, %r2, 0;
  mov.u32 %r4, 0;
  @!%p2 bra $late;
  bar.sync 0;
  ret;
$late:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p3, %r4, 3000;
  @%p3 bra $late;
  ret;)"),
                                  {64, 1, 1}, {}, o);
    EXPECT_THAT(codes(c), IsEmpty()) << name(o.schedule) << PtxRunner::describe(c.result);
  }
}

TEST(ProtocolBarriers, ArrivesTwiceAtTheClusterBarrier) {
  const Checked c = run_checked(barrier_kernel(R"(
  setp.eq.u32 %p2, %r3, 0;
  @%p2 barrier.cluster.arrive;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;)"),
                                {32, 1, 1}, {2, 1, 1});
  EXPECT_THAT(codes(c), Contains("PLD4804"));
}

// The generation of the first arrival has completed meanwhile; the thread has not waited for it.
TEST(ProtocolBarriers, ArrivesAgainBehindACompletedGeneration) {
  const auto with = [](const std::string& between) {
    return codes(run_checked(barrier_kernel("barrier.cluster.arrive;\n" + between + R"(
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;)"),
                             {64, 1, 1}, {1, 1, 1}));
  };
  EXPECT_THAT(with("bar.sync 0;"), Contains("PLD4804"));
  EXPECT_THAT(with("barrier.cluster.wait;"), IsEmpty());
}

TEST(ProtocolBarriers, APeerThatMayNotHaveStarted) {
  const Checked c = run_checked(barrier_kernel(R"(
  mov.u32 %r4, tile;
  xor.b32 %r5, %r3, 1;
  mapa.shared::cluster.u32 %r6, %r4, %r5;
  st.shared::cluster.u32 [%r6], %r1;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;)"),
                                {32, 1, 1}, {2, 1, 1});
  EXPECT_THAT(codes(c), ElementsAre("PLD4801"));
}

TEST(ProtocolBarriers, APeerThatMayHaveLeft) {
  for (const bool right : {false, true}) {
    for (const RunOptions& o : every_schedule()) {
      const std::string meet = "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n";
      const Checked c = run_checked(barrier_kernel(meet + R"(
  mov.u32 %r4, tile;
  xor.b32 %r5, %r3, 1;
  mapa.shared::cluster.u32 %r6, %r4, %r5;
  ld.shared::cluster.u32 %r7, [%r6];
)" + (right ? meet : "") + "  ret;"),
                                    {32, 1, 1}, {2, 1, 1}, o);
      if (right)
        EXPECT_THAT(codes(c), IsEmpty()) << name(o.schedule) << PtxRunner::describe(c.result);
      else
        EXPECT_THAT(codes(c), Contains("PLD4802")) << name(o.schedule);
    }
  }
}

std::string store_before(const std::string& after) {
  return barrier_kernel(R"(
  @%p1 bra $done;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
)" + after + "\n$done:\n  ret;");
}

TEST(ProtocolBarriers, AStoreThatIsNotAwaited) {
  for (const RunOptions& o : every_schedule()) {
    const std::string commit = "  cp.async.bulk.commit_group;\n",
                      wait = "  cp.async.bulk.wait_group.read 0;\n";
    EXPECT_THAT(codes(run_checked(store_before(commit), {32, 1, 1}, {}, o)), ElementsAre("PLD4314"));
    EXPECT_THAT(codes(run_checked(store_before(wait), {32, 1, 1}, {}, o)), ElementsAre("PLD4311"));
    EXPECT_THAT(codes(run_checked(store_before(commit + wait), {32, 1, 1}, {}, o)), IsEmpty());
  }
}

}  // namespace
}  // namespace palladion::sim::testing
