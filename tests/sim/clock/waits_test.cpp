// When would a warp that waits go on?
#include "sim/clock/sm/waits.h"

#include <gtest/gtest.h>

#include "tests/sim/clock/parameters.h"

namespace palladion::sim::hardware {
namespace {

class WaitsTest : public testing::Test {
 protected:
  const isa::ClockParameters p = round_numbers();
  const Waits waits{p};
};

TEST_F(WaitsTest, BarriersTakeLongerTheMoreWarpsTakePart) {
  EXPECT_EQ(waits.barrier(32), 14U);
  EXPECT_EQ(waits.barrier(33), 16U);
  EXPECT_EQ(waits.barrier(1024), 76U);
}

TEST_F(WaitsTest, TheClustersBarrierLetsWarpsGoOnOneAfterTheOther) {
  EXPECT_EQ(waits.cluster_barrier(2, 0), 72U);
  EXPECT_EQ(waits.cluster_barrier(2, 3), 78U);
  EXPECT_EQ(waits.cluster_barrier(4, 0), 76U);
  EXPECT_EQ(waits.cluster_barrier(8, 0), 80U);
  EXPECT_EQ(waits.cluster_barrier(16, 0), 80U);
}

TEST_F(WaitsTest, AnMbarriersNewsComeSoonerFromACopy) {
  EXPECT_EQ(waits.wake(Wait::Kind::mbarrier, false), 35U);
  EXPECT_EQ(waits.wake(Wait::Kind::mbarrier, true), 3U);
}

TEST_F(WaitsTest, GroupsAndTheRest) {
  EXPECT_EQ(waits.wake(Wait::Kind::bulk_group, true), 7U);
  EXPECT_EQ(waits.wake(Wait::Kind::wgmma_group, true), 1U);
  EXPECT_EQ(waits.wake(Wait::Kind::poll, false), 1U);
}

TEST(Waits, EachHasItsStallReason) {
  EXPECT_EQ(stall_of(Wait::Kind::mbarrier), Stall::mbarrier);
  EXPECT_EQ(stall_of(Wait::Kind::wgmma_group), Stall::gmma);
  EXPECT_EQ(stall_of(Wait::Kind::quantum_boundary), Stall::long_scoreboard);
  EXPECT_EQ(stall_of(Wait::Kind::none), Stall::wait);
}

}  // namespace
}  // namespace palladion::sim::hardware
