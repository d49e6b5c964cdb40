// When would a warp that has waited for others go on?
#include "sim/clock/group/wake_ups.h"

#include <gtest/gtest.h>

#include "sim/clock/group/residents.h"
#include "tests/sim/clock/one_warp.h"

namespace palladion::sim::hardware {
namespace {

ClusterState cluster_of(uint32_t ctas, uint32_t warps) {
  ClusterState cluster;
  cluster.ctas.resize(ctas);
  for (uint32_t rank = 0; rank < ctas; ++rank) {
    CtaState& cta = cluster.ctas[rank];
    cta.rank = CtaRank(rank);
    cta.barriers.resize(16);
    cta.warps.resize(warps);
    for (uint32_t w = 0; w < warps; ++w) {
      cta.warps[w].id = WarpOfCta(w);
      cta.warps[w].alive = ~0U;
      cta.warps[w].groups.push_back({.mask = ~0U});
    }
  }
  return cluster;
}

class WakeUpsTest : public testing::Test {
 protected:
  const isa::ClockParameters p = round_numbers();
  ClusterState cluster = cluster_of(2, 4);
  Warp warp{
      .id = WarpOfCta(3), .cluster = &cluster, .cta = &cluster.ctas[0], .warp = &cluster.ctas[0].warps[3]};
  WakeUps wake_ups{p};
};

TEST_F(WakeUpsTest, ABarrierOfTheCtaTakesLongerTheMoreHaveArrived) {
  cluster.ctas[0].barriers[2].last_arrived = 64;
  EXPECT_EQ(wake_ups.delay(warp, {.kind = Wait::Kind::cta_barrier, .object = 2}, Cycle(100), false), 16U);
  wake_ups.pass_barrier(warp, 2, Cycle(100));
  EXPECT_EQ(warp.next, 116U);
}

TEST_F(WakeUpsTest, TheClustersBarrierCountsFromTheWarpsOwnArrival) {
  EXPECT_EQ(wake_ups.delay(warp, {.kind = Wait::Kind::cluster_barrier}, Cycle(100), false), 78U);
  warp.arrived = Cycle(100);
  wake_ups.pass_cluster_barrier(warp);
  EXPECT_EQ(warp.next, 178U);
}

TEST_F(WakeUpsTest, AnMbarrierWaitsForArrivalsThatAreOnTheirWay) {
  const Wait wait{.kind = Wait::Kind::mbarrier, .object = 0x100};
  EXPECT_EQ(wake_ups.delay(warp, wait, Cycle(200), true), 3U);
  wake_ups.arrives(ClusterOfGroup(0), SharedAddress(0x100), Cycle(300));
  warp.cluster_number = ClusterOfGroup(0);
  EXPECT_EQ(wake_ups.delay(warp, wait, Cycle(200), true), 100U + 35);
  EXPECT_EQ(wake_ups.delay(warp, wait, Cycle(300), false), 35U);
  wake_ups.pass_mbarrier(warp, 0x100, Cycle(200));
  EXPECT_EQ(warp.next, 335U);
  wake_ups.forget(ClusterOfGroup(0));
  EXPECT_FALSE(wake_ups.expects_arrivals());
}

TEST_F(WakeUpsTest, BlockedWarpsOfTheClusterGetAnEvent) {
  ClusterState other = cluster_of(1, 1);
  std::vector<Warp> warps(3, warp);
  for (uint32_t i = 0; i < 3; ++i) {
    warps[i].index = i;
    warps[i].warp = &cluster.ctas[0].warps[i];
    warps[i].state = i == 0 ? Warp::State::queued : Warp::State::blocked;
  }
  warps[2].cluster = &other;
  Events events;
  wake_ups.wake(warps, cluster, Cycle(100), false, events);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.next().time, 101U);
  EXPECT_EQ(events.next().index, 1U);
  EXPECT_EQ(warps[1].state, Warp::State::queued);
  events.pop();
  EXPECT_TRUE(events.empty());
}

TEST(Residents, WarpsOfAClusterThatLeavesMakeRoomForOthers) {
  const isa::ClockParameters p = round_numbers();
  OneWarp one(p);
  std::vector<Sm> sms;
  sms.emplace_back(0, p, Sm::Shape{.sub_cores = 4, .fence_interval = 1, .l1_bytes = 64 << 10});
  ClusterState first = cluster_of(1, 6), second = cluster_of(1, 2);
  second.index = ClusterOfGrid(1);
  Residents residents;
  Events events;
  residents.start(first, Cycle(100), sms, *one.costs, 4, events);
  EXPECT_EQ(residents.warp(5).sub_core, 1U);
  EXPECT_EQ(residents.warp(5).warpgroup, 1U);
  EXPECT_EQ(residents.warp(5).next, 100U);
  residents.start(second, Cycle(200), sms, *one.costs, 4, events);
  EXPECT_EQ(residents.warp(6).cluster_number, 1U);
  EXPECT_EQ(residents.warp(6).sub_core, 2U);
  EXPECT_EQ(residents.remove(first), 0U);
  residents.start(first, Cycle(300), sms, *one.costs, 4, events);
  EXPECT_EQ(residents.warps().size(), 8U);
  EXPECT_EQ(&residents.cluster(ClusterOfGroup(0)), &first);
}

}  // namespace
}  // namespace palladion::sim::hardware
