// Operations of which each lane issues a part: by lanes that have done different things before, each part is
// of the thread that its lane is.
#include <gtest/gtest.h>

#include "sim/check/checker.h"
#include "sim/explore/decide.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::tests {
namespace {

using namespace sim::check;

// Lanes 0 to 3 of one warp act in `body`; lane 0 is %p0, they are %p1. [%r1] and [%r2] are mbarriers of
// `count` arrivals, [%r3] 16 words, [%rd0] an array.
std::string reason_open(const std::string& body, int count = 1) {
  sim::testing::PtxRunner runner(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 array) {
  .shared .align 8 .b64 bars[2];
  .shared .align 16 .b8 words[64];
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [array];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, bars;
  add.u32 %r2, %r1, 8;
  mov.u32 %r3, words;
  mad.lo.u32 %r4, %r0, 4, %r3;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd1, %rd0, %rd1;
  setp.eq.u32 %p0, %r0, 0;
  setp.lt.u32 %p1, %r0, 4;
  @%p0 mbarrier.init.shared.b64 [%r1], )" +
                                 std::to_string(count) + R"(;
  @%p0 mbarrier.init.shared.b64 [%r2], )" +
                                 std::to_string(count) + R"(;
  bar.sync 0;
)" + body + "  ret;\n}\n");
  std::vector<uint32_t> array(32);
  runner.array(array).shape({1, 1, 1}, {64, 1, 1});
  SkeletonObserver observer;
  EXPECT_TRUE(runner.run({.observer = &observer}).completed);
  const RunDecision d = decide_run(observer.recorded(), Coverage{});
  return d.decided ? "" : d.reason;
}

std::string expect_bytes(int bytes) {
  return "  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], " + std::to_string(bytes) + ";\n";
}

const std::string stores =
    "  @%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r4], %r0, [%r1];\n";

std::string wait_for(const std::string& bar, const std::string& label) {
  return label + ":\n  mbarrier.try_wait.parity.shared.b64 %p2, [" + bar + "], 0;\n  @!%p2 bra " + label +
         ";\n";
}

TEST(Parts, of_stores_of_an_elected_lane_and_others_are_counted_once) {
  EXPECT_EQ(reason_open(expect_bytes(16) + stores + wait_for("%r1", "W")), "");
}

// The bytes of three lanes are not announced: with those of any lane the phase can complete.
TEST(Parts, that_are_not_announced_stay_open) {
  EXPECT_NE(reason_open(expect_bytes(4) + stores), "");
  EXPECT_NE(reason_open(expect_bytes(12) + stores), "");
}

// Lane 0 has not waited for the phase before, the others have: its part can come in that phase.
TEST(Parts, come_when_their_own_lane_has_issued_them) {
  const auto second_phase = [](const std::string& who_waits) {
    return reason_open("  setp.eq.u32 %p3, %r0, 32;\n  @%p3 mbarrier.arrive.shared.b64 _, [%r1];\n" +
                       who_waits + " bra GO;\n" + wait_for("%r1", "W") + "GO:\n  setp.eq.u32 %p3, %r0, 1;\n" +
                       "  @%p3 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16;\n" + stores);
  };
  EXPECT_EQ(second_phase("  setp.ge.u32 %p2, %r0, 4;\n  @%p2"), "");
  EXPECT_NE(second_phase("  setp.ge.u32 %p2, %r0, 4;\n  or.pred %p2, %p2, %p0;\n  @%p2"), "");
}

TEST(Parts, of_copies_that_arrive_for_their_lanes_are_counted_once) {
  const std::string copies = "  @%p1 cp.async.ca.shared.global [%r4], [%rd1], 4;\n";
  const std::string arrive = "  @%p1 cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];\n";
  const std::string first = "  @%p0 mbarrier.arrive.shared.b64 _, [%r1];\n";
  EXPECT_EQ(reason_open(copies + first + arrive + wait_for("%r1", "W"), 5), "");
  EXPECT_NE(reason_open(copies + first + arrive + arrive + wait_for("%r1", "W"), 5), "");
}

}  // namespace
}  // namespace palladion::tests
