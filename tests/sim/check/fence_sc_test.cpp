// Memory fences and what they order through an address: patterns of release and acquire, and Fence-SC order.
#include <gmock/gmock.h>

#include "tests/sim/check/checked.h"

namespace palladion::sim::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

// The steps of a hand-over from all threads of CTA 0 to all threads of CTA 1, each of which a test may
// change.
struct HandOver {
  std::string fence = "membar.gl;", barrier = "bar.sync 0;";
  std::string signal = "red.relaxed.gpu.global.add.u32 [%rd1], 1;";
  std::string behind_signal, before_poll;
  std::string poll = "ld.relaxed.gpu.global.u32 %r4, [%rd1];";
  std::string barrier_of_reader = "bar.sync 0;", fence_of_reader = "membar.gl;";
};

Codes handed_over(const HandOver& h, uint32_t threads = 64) {
  const std::string body = R"(
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  setp.ne.u32 %p1, %r1, 0;
  setp.ne.u32 %p2, %r9, 0;
  @%p2 bra READER;
  st.global.u32 [%rd2+128], %r1;
)" + h.fence + h.barrier + "@%p1 bra SIGNALLED;\n" +
                           h.signal + "SIGNALLED:\n" + h.behind_signal + R"(
  ret;
READER:
)" + h.before_poll + R"(
  @%p1 bra JOIN;
SPIN:
)" + h.poll + R"(
  setp.eq.u32 %p3, %r4, 0;
  @%p3 bra SPIN;
JOIN:
)" + h.barrier_of_reader + h.fence_of_reader +
                           R"(
  mul.wide.u32 %rd3, %r1, 4;
  sub.u64 %rd3, %rd1, %rd3;
  ld.global.u32 %r5, [%rd3+)" +
                           std::to_string(128 + 4 * (threads - 1)) + "];\n";
  return codes_of(checked(body, {2, 1, 1}, {threads, 1, 1}));
}

TEST(FenceSc, FencesOfAllThreadsAroundOneSignalAreOrdered) {
  EXPECT_THAT(handed_over(HandOver{}), IsEmpty());
  EXPECT_THAT(handed_over({.fence = "fence.sc.gpu;", .fence_of_reader = "membar.sys;"}), IsEmpty());
  EXPECT_THAT(handed_over({.signal = "st.volatile.global.u32 [%rd1], 1;",
                           .poll = "ld.volatile.global.u32 %r4, [%rd1];"}),
              IsEmpty());
  EXPECT_THAT(handed_over({.poll = "atom.relaxed.gpu.global.add.u32 %r4, [%rd1], 0;"}), IsEmpty());
}

TEST(FenceSc, BothSidesNeedIt) {
  EXPECT_THAT(handed_over({.fence = ""}), Not(IsEmpty()));
  EXPECT_THAT(handed_over({.fence_of_reader = ""}), Not(IsEmpty()));
  EXPECT_THAT(handed_over({.fence = "fence.acq_rel.gpu;"}), Not(IsEmpty()));
  EXPECT_THAT(handed_over({.fence_of_reader = "fence.acq_rel.gpu;"}), Not(IsEmpty()));
}

TEST(FenceSc, TheirScopesIncludeEachOther) {
  EXPECT_THAT(handed_over({.fence = "membar.cta;"}), Not(IsEmpty()));
  EXPECT_THAT(handed_over({.fence_of_reader = "membar.cta;"}), Not(IsEmpty()));
  EXPECT_THAT(handed_over({.fence_of_reader = "fence.sc.cluster;"}), Not(IsEmpty()));
  EXPECT_THAT(handed_over({.signal = "red.relaxed.cta.global.add.u32 [%rd1], 1;"}), Not(IsEmpty()));
  EXPECT_THAT(handed_over({.poll = "ld.relaxed.cta.global.u32 %r4, [%rd1];"}), Not(IsEmpty()));
}

// The order of the two fences is known through the signal alone: one is before it, the other behind it.
TEST(FenceSc, TheSignalLiesBetweenThem) {
  EXPECT_THAT(handed_over({.barrier = ""}), Not(IsEmpty()));
  EXPECT_THAT(handed_over({.barrier_of_reader = ""}), Not(IsEmpty()));
  EXPECT_THAT(handed_over({.fence = "", .behind_signal = "membar.gl;"}), Not(IsEmpty()));
  EXPECT_THAT(handed_over({.before_poll = "membar.gl;", .fence_of_reader = ""}), Not(IsEmpty()));
}

// Who adds by red has read nothing: that its addition was the later one is no observation.
TEST(FenceSc, AReductionObservesNothing) {
  EXPECT_THAT(handed_over({.poll = "atom.relaxed.gpu.global.add.u32 %r4, [%rd1], 1;"}, 32), IsEmpty());
  EXPECT_THAT(handed_over({.poll = "red.relaxed.gpu.global.add.u32 [%rd1], 1; mov.u32 %r4, 1;"}, 32),
              Not(IsEmpty()));
  EXPECT_THAT(handed_over({.fence = "bar.sync 0; fence.acq_rel.gpu;",
                           .poll = "red.relaxed.gpu.global.add.u32 [%rd1], 1; mov.u32 %r4, 1;",
                           .fence_of_reader = "fence.acq_rel.gpu;"},
                          1),
              Not(IsEmpty()));
}

// Every CTA writes its part; the one that takes the last ticket reads all of them.
std::string last_block(const std::string& before, const std::string& behind) {
  return R"(
  mad.lo.u32 %r3, %r9, 64, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2+128], %r1;
)" + before +
         R"(
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra TICKET;
  atom.global.add.u32 %r4, [%rd1], 1;
  setp.eq.u32 %p2, %r4, 3;
  selp.u32 %r5, 1, 0, %p2;
  st.shared.u32 [tile], %r5;
TICKET:
  bar.sync 0;
  ld.shared.u32 %r5, [tile];
  setp.eq.u32 %p2, %r5, 0;
  @%p2 ret;
)" + behind +
         R"(
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd3, %rd1, %rd3;
  ld.global.u32 %r6, [%rd3+128];
  ld.global.u32 %r6, [%rd3+384];
  ld.global.u32 %r6, [%rd3+640];
)";
}

TEST(FenceSc, TheLastBlockReadsWhatTheOthersWrote) {
  const auto with = [](const std::string& before, const std::string& behind) {
    return codes_of(checked(last_block(before, behind), {4, 1, 1}, {64, 1, 1}));
  };
  EXPECT_THAT(with("membar.gl; bar.sync 0;", "membar.gl;"), IsEmpty());
  EXPECT_THAT(with("membar.gl; bar.sync 0;", ""), Not(IsEmpty()));
  EXPECT_THAT(with("bar.sync 0;", "membar.gl;"), Not(IsEmpty()));
  EXPECT_THAT(with("membar.gl;", "membar.gl;"), Not(IsEmpty()));
}

// Two halves of a CTA, each with a barrier of its own; a flag in shared memory leads from one to the other.
TEST(FenceSc, InsideOfACta) {
  const auto with = [](const std::string& fence) {
    return codes_of(checked(R"(
  mov.u32 %r3, tile;
  shl.b32 %r4, %r1, 2;
  and.b32 %r4, %r4, 252;
  add.u32 %r3, %r3, %r4;
  setp.eq.u32 %p1, %r1, 0;
  setp.ge.u32 %p2, %r1, 64;
  @%p1 st.shared.u32 [tile+256], 0;
  bar.sync 0;
  @%p2 bra READER;
  st.shared.u32 [%r3], %r1;
)" + fence + R"(
  bar.sync 1, 64;
  @%p1 st.volatile.shared.u32 [tile+256], 1;
  ret;
READER:
  setp.ne.u32 %p1, %r1, 64;
  @%p1 bra JOIN;
SPIN:
  ld.volatile.shared.u32 %r5, [tile+256];
  setp.eq.u32 %p3, %r5, 0;
  @%p3 bra SPIN;
JOIN:
  bar.sync 2, 64;
)" + fence + R"(
  ld.shared.u32 %r5, [%r3];
)",
                            {1, 1, 1}, {128, 1, 1}));
  };
  EXPECT_THAT(with("membar.cta;"), IsEmpty());
  EXPECT_THAT(with("fence.acq_rel.cta;"), Not(IsEmpty()));
}

// A fence releases what its own thread did, and what this thread knows.
TEST(MemoryFences, ALaneReleasesWhatItKnows) {
  const HandOver one_lane{.barrier = "", .barrier_of_reader = "bar.warp.sync 0xffffffff;"};
  const auto with = [&](const std::string& fence, const std::string& fence_of_reader) {
    HandOver h = one_lane;
    h.fence = fence;
    h.fence_of_reader = fence_of_reader;
    return handed_over(h, 32);
  };
  EXPECT_THAT(with("fence.acq_rel.gpu;", "fence.acq_rel.gpu;"), Not(IsEmpty()));
  EXPECT_THAT(with("membar.gl;", "membar.gl;"), Not(IsEmpty()));
  EXPECT_THAT(with("membar.gl; bar.warp.sync 0xffffffff;", "membar.gl;"), IsEmpty());
  EXPECT_THAT(with("fence.acq_rel.gpu; bar.warp.sync 0xffffffff;", "membar.gl;"), Not(IsEmpty()));
}

TEST(MemoryFences, ANarrowFenceDoesNotHideAWideOne) {
  const std::string both = "fence.acq_rel.gpu; fence.acq_rel.cta;";
  EXPECT_THAT(handed_over({.fence = both, .barrier = "", .fence_of_reader = "fence.acq_rel.gpu;"}, 1),
              IsEmpty());
  EXPECT_THAT(
      handed_over({.fence = "fence.acq_rel.cta;", .barrier = "", .fence_of_reader = "fence.acq_rel.gpu;"}, 1),
      Not(IsEmpty()));
}

}  // namespace
}  // namespace palladion::sim::testing
