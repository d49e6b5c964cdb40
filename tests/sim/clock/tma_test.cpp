// When would the TMA unit send a copy's requests?
#include "sim/clock/sm/tma.h"

#include <gtest/gtest.h>

#include "tests/sim/clock/parameters.h"

namespace palladion::sim::hardware {
namespace {

using Direction = TmaUnit::Direction;

TEST(TmaUnit, TakesACopyInAnInterval) {
  TmaUnit tma(round_numbers());
  EXPECT_EQ(tma.take(Direction::load, 100, 4).from, 100);
  EXPECT_EQ(tma.take(Direction::load, 100, 4).from, 110);
  EXPECT_EQ(tma.take(Direction::load, 100, 4).to, 124);
}

TEST(TmaUnit, CopiesOfADirectionSendOneAfterTheOther) {
  TmaUnit tma(round_numbers());
  EXPECT_EQ(tma.take(Direction::load, 0, 100).to, 100);
  EXPECT_EQ(tma.take(Direction::load, 0, 100).from, 100);
  EXPECT_EQ(tma.take(Direction::store, 0, 100).from, 20);
}

TEST(TmaUnit, QueuesThatAreFullHoldUpTheThread) {
  TmaUnit tma(round_numbers());
  for (int i = 0; i < 5; ++i) tma.take(Direction::load, 0, 100);
  // Taken at 0, 10, 20, 30 and, when the second has begun to send at 100, at 110.
  EXPECT_EQ(tma.opens(), 30);
  tma.take(Direction::load, 0, 100);
  EXPECT_EQ(tma.opens(), 110);
}

TEST(TmaUnit, StoresWaitForL2) {
  TmaUnit tma(round_numbers());
  tma.hold_stores(500);
  EXPECT_EQ(tma.take(Direction::store, 0, 10).from, 500);
  EXPECT_EQ(tma.take(Direction::load, 0, 10).from, 10);  // beside it
}

TEST(TmaUnit, ADescriptorIsFetchedOnce) {
  TmaUnit tma(round_numbers());
  EXPECT_EQ(tma.fetch_descriptor(0x1000), 150);
  EXPECT_EQ(tma.fetch_descriptor(0x1000), 0);
  EXPECT_EQ(tma.fetch_descriptor(0x2000), 150);
}

TEST(TmaUnit, KnowsWhichLoadHasAnotherBehindIt) {
  TmaUnit tma(round_numbers());
  const uint64_t first = tma.count_load();
  EXPECT_FALSE(tma.is_overtaken(first));
  const uint64_t second = tma.count_load();
  EXPECT_TRUE(tma.is_overtaken(first));
  EXPECT_FALSE(tma.is_overtaken(second));
  EXPECT_FALSE(tma.is_overtaken(0));  // no load
}

}  // namespace
}  // namespace palladion::sim::hardware
