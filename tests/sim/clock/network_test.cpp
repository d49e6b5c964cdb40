// When would the cluster's network have carried packets, and a fence be done? A packet leaves in two cycles
// and is taken in one.
#include "sim/clock/sm/network.h"

#include <gtest/gtest.h>

#include "sim/clock/sm/fences.h"
#include "tests/sim/clock/parameters.h"

namespace palladion::sim::hardware {
namespace {

class NetworkTest : public testing::Test {
 protected:
  const isa::ClockParameters p = round_numbers();
  NetworkPort a{p}, b{p}, c{p};
};

TEST_F(NetworkTest, PacketsLeaveOneAfterTheOther) {
  EXPECT_EQ(a.send(b, 100, 4), 108);
  EXPECT_EQ(a.opens(), 108);
  EXPECT_EQ(a.send(c, 100, 4), 116);
}

TEST_F(NetworkTest, AnSmTakesHalfAsMuchAgainAsOneGives) {
  a.send(c, 0, 100);                  // until 200; taken until 100
  EXPECT_EQ(b.send(c, 0, 100), 200);  // taken until 200
  NetworkPort d(p);
  EXPECT_EQ(d.send(c, 0, 100), 300);
}

TEST_F(NetworkTest, NeighboursMakeItSlower) {
  a.share();
  EXPECT_EQ(a.send(b, 0, 4), 12);
  EXPECT_EQ(a.send(a, 100, 4), 108);  // not on the way to itself
  EXPECT_EQ(a.write(b, 200, 4), 216);
}

TEST_F(NetworkTest, WritesAreAcknowledged) {
  EXPECT_EQ(a.write(b, 0, 4), 8);
  EXPECT_EQ(b.opens(), 4);  // half a packet for each, two cycles a packet
}

TEST_F(NetworkTest, WideStoresTakeTwoPlacesOfTheQueue) {
  a.queue_store(10, 4);
  EXPECT_EQ(a.store_opens(), 0);
  a.queue_store(20, 16);
  EXPECT_EQ(a.store_opens(), 20);
}

TEST_F(NetworkTest, CopiesStartInIntervals) {
  EXPECT_EQ(a.start_copy(0), 0);
  EXPECT_EQ(a.start_copy(0), 40);
  EXPECT_EQ(a.copy_opens(), 0);
  EXPECT_EQ(a.start_copy(0), 80);
  EXPECT_EQ(a.copy_opens(), 40);
}

TEST(Packets, WholeSectorsAreOnePacket) {
  uint64_t addresses[32];
  for (uint64_t i = 0; i < 32; ++i) addresses[i] = 4 * i;
  const Packets row = packets_of(addresses, ~0U, 4);
  EXPECT_EQ(row.lines, 1U);
  EXPECT_EQ(row.sectors, 4U);
  EXPECT_EQ(row.written, 4U);
  EXPECT_EQ(row.atomic, 5U);  // and which words
  const Packets word = packets_of(addresses, 1, 4);
  EXPECT_EQ(word.written, 1U);
  EXPECT_EQ(word.atomic, 1U);
  const Packets parts = packets_of(addresses, 0x11, 4);  // a word in each half of a sector
  EXPECT_EQ(parts.sectors, 1U);
  EXPECT_EQ(parts.written, 2U);
}

TEST(RemoteArrivals, TheLastOneCountsUntilItIsThere) {
  RemoteArrivals arrivals;
  arrivals.add(ClusterOfGroup(0), SharedAddress(0x40), Cycle(100));
  arrivals.add(ClusterOfGroup(0), SharedAddress(0x40), Cycle(150));
  arrivals.add(ClusterOfGroup(1), SharedAddress(0x40), Cycle(900));
  EXPECT_EQ(arrivals.arrives(ClusterOfGroup(0), SharedAddress(0x40), Cycle(120)), 150U);
  EXPECT_EQ(arrivals.arrives(ClusterOfGroup(0), SharedAddress(0x40), Cycle(150)), 0U);
  EXPECT_EQ(arrivals.arrives(ClusterOfGroup(0), SharedAddress(0x48), Cycle(0)), 0U);
  arrivals.remove(ClusterOfGroup(1));
  EXPECT_EQ(arrivals.arrives(ClusterOfGroup(1), SharedAddress(0x40), Cycle(0)), 0U);
}

class FencesTest : public testing::Test {
 protected:
  const isa::ClockParameters p = round_numbers();
  Fences fences{p, 100};
};

TEST_F(FencesTest, ANarrowScopeWaitsForNothing) {
  fences.accesses_gmem();
  EXPECT_EQ(fences.done(Cycle(1000), 20, {.stores = Cycle(5000)}), 1020U);
}

TEST_F(FencesTest, AWideOneWaitsForTheWarpsStoresAndTheNetwork) {
  EXPECT_EQ(fences.done(Cycle(1000), 200, {.stores = Cycle(1100)}), 1300U);
  EXPECT_EQ(Fences(p, 100).done(Cycle(1000), 200, {.network = 1150}), 1350U);
}

TEST_F(FencesTest, AfterAccessesL2IsAskedOnce) {
  fences.accesses_gmem();
  EXPECT_EQ(fences.done(Cycle(1000), 200, {}), 1480U);
  EXPECT_EQ(fences.done(Cycle(3000), 200, {}), 3200U);
}

TEST_F(FencesTest, TwoAtOnceThenOneInAnInterval) {
  EXPECT_EQ(fences.done(Cycle(1000), 200, {}), 1200U);
  EXPECT_EQ(fences.done(Cycle(1000), 200, {}), 1200U);
  EXPECT_EQ(fences.done(Cycle(1000), 200, {}), 1300U);
}

TEST_F(FencesTest, AsynchronousStoresOfTheWholeSmAreWaitedFor) {
  fences.async_stored(Cycle(2000));
  EXPECT_EQ(fences.done(Cycle(1000), 200, {}), 1200U);  // the warp has none
  EXPECT_EQ(fences.done(Cycle(1400), 200, {.async_stores = Cycle(1500)}), 2000U);
  EXPECT_EQ(fences.done(Cycle(1800), 200, {.async_stores = Cycle(1900), .shared_network = true}), 2500U);
}

}  // namespace
}  // namespace palladion::sim::hardware
