// Threads that exit at a cluster barrier: the barrier does not wait for them, and they do not count for
// others.
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

// CTA 1 reads, behind the barrier, what the lanes of CTA 0 wrote before their arrival. `others` is what
// the first warp of CTA 1 does instead of waiting.
std::string exchange(const std::string& others) {
  return R"(.version 8.7
.target sm_90a
.address_size 64
.shared .align 4 .b32 box;
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<2>;
  .reg .pred %p<3>;
  mov.u32 %r0, %cluster_ctarank;
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p0, %r0, 0;
  @%p0 bra WRITER;
  setp.lt.u32 %p1, %r1, 32;
  @!%p1 bra READER;
)" + others +
         R"(
READER:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  mov.u32 %r2, box;
  mapa.shared::cluster.u32 %r3, %r2, 0;
  ld.shared::cluster.u32 %r4, [%r3];
  ld.param.u64 %rd0, [out];
  cvta.to.global.u64 %rd0, %rd0;
  setp.eq.u32 %p2, %r1, 32;
  @%p2 st.global.u32 [%rd0], %r4;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  ret;
WRITER:
  nanosleep.u32 1000;
  setp.eq.u32 %p2, %r1, 0;
  @%p2 st.shared.u32 [box], 7;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  ret;
}
)";
}

void expect_seven(const std::string& others) {
  for (const Schedule::Kind kind :
       {Schedule::Kind::functional, Schedule::Kind::latest, Schedule::Kind::seeded})
    for (uint64_t seed = 0; seed < 8; ++seed) {
      std::vector<uint32_t> out(1);
      PtxRunner runner(exchange(others));
      runner.array(out).shape({2, 1, 1}, {64, 1, 1}, {2, 1, 1});
      RunOptions options;
      options.schedule = {kind, seed};
      runner.run_clean(options);
      EXPECT_EQ(out[0], 7U) << name(options.schedule);
    }
}

TEST(ClusterBarrier, AnArrivalDoesNotCountForAnotherThreadOnceItsOwnHasExited) {
  expect_seven("  barrier.cluster.arrive.release;\n  ret;");
}

TEST(ClusterBarrier, AThreadThatExitsIsNotWaitedFor) { expect_seven("  ret;"); }

}  // namespace
}  // namespace palladion::sim::testing
