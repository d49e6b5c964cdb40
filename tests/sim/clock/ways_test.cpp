// When would a request get to L2, whose answer its SMs have room for? When has a store left its SM?
#include "sim/clock/memory/ways.h"

#include <gtest/gtest.h>

#include "tests/sim/clock/parameters.h"
#include "tests/support/small_chip.h"

namespace palladion::sim::hardware {
namespace {

class WaysTest : public testing::Test {
 protected:
  const isa::ClockParameters p = round_numbers();
  Ways ways{p, sites(test::small_chip()), Partitions(2)};
};

TEST_F(WaysTest, HalfOfTheLinesAreFar) {
  const uint32_t side = ways.site(0).side;
  for (uint64_t line = 0; line < 8; ++line)
    EXPECT_EQ(ways.distance(0, line), Partitions(2).home_of(line) == side ? 0 : 32) << line;
}

TEST_F(WaysTest, SmsOfAGpcShareTheWayIntoIt) {
  EXPECT_EQ(ways.pass({.sm = 0}, 100, 10, 128, false), 110);
  EXPECT_EQ(ways.pass({.sm = 1}, 100, 10, 128, false), 112);  // 64 bytes a cycle
}

TEST_F(WaysTest, AnSmTakesLessThanItsGpc) {
  for (int i = 0; i < 7; ++i) ways.pass({.sm = 0}, 100, 10, 128, false);
  EXPECT_EQ(ways.pass({.sm = 0}, 100, 10, 128, false), 132);  // two in each step of eight cycles from 104 on
  EXPECT_EQ(ways.pass({.sm = 1}, 100, 10, 128, false), 126);
}

TEST_F(WaysTest, AFurtherSmOfAnAnswerTakesLessOfTheGpcsWay) {
  const Request both{.sm = 0, .receivers = 0b11, .first_sm = 0};
  EXPECT_EQ(ways.pass(both, 100, 0, 128, false), 100);
  EXPECT_EQ(ways.pass({.sm = 2}, 100, 0, 128, false), 103);  // two cycles, and one for the second SM
  EXPECT_EQ(ways.pass({.sm = 3}, 100, 0, 128, true), 105);   // takes one more
  EXPECT_EQ(ways.pass({.sm = 1}, 100, 0, 128, false), 106);
}

TEST_F(WaysTest, StoresLeaveAnSmOneAfterTheOther) {
  const Ways::Sent first = ways.send(0, 100, 4), second = ways.send(0, 101, 1), other = ways.send(1, 101, 1);
  EXPECT_EQ(first.to, 104);
  EXPECT_EQ(second.from, 104);
  EXPECT_EQ(second.to, 105);
  EXPECT_EQ(other.from, 101);
}

}  // namespace
}  // namespace palladion::sim::hardware
