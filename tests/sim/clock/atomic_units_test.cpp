// When would an atomic be performed, and when is there room for it? Two places of eight lanes in front of
// each unit.
#include "sim/clock/memory/atomic_units.h"

#include <gtest/gtest.h>

#include "tests/sim/clock/parameters.h"

namespace palladion::sim::hardware {
namespace {

constexpr LineAccess one_word{.line = 0, .sectors = 1, .words = 1};

class AtomicUnitsTest : public testing::Test {
 protected:
  const isa::ClockParameters p = round_numbers();
  AtomicUnits units{p, 16, 2};
};

TEST_F(AtomicUnitsTest, AUnitPerformsOneAfterTheOther) {
  EXPECT_EQ(units.take(0, one_word, 100).start, 100);
  EXPECT_EQ(units.take(1, one_word, 100).start, 102);
  LineAccess other = one_word;
  other.line = 2;  // of another pair
  EXPECT_EQ(units.take(0, other, 100).start, 100);
}

TEST_F(AtomicUnitsTest, LanesThatWantOneWordGoOneAfterTheOther) {
  LineAccess alike = one_word;
  alike.alike = 32;
  units.take(0, alike, 100);
  EXPECT_EQ(units.take(0, one_word, 100).start, 164);
}

TEST_F(AtomicUnitsTest, AWholeLineHasAnIntervalOfItsOwn) {
  units.take(0, {.line = 0, .sectors = 0xF}, 100);
  EXPECT_EQ(units.take(0, one_word, 100).start, 104);
}

TEST_F(AtomicUnitsTest, AnSmSendsNoMoreWhileItsQueueIsFull) {
  LineAccess eight = one_word;
  eight.alike = 8;  // 16 cycles, one place
  EXPECT_EQ(units.take(0, eight, 100).room, 0);
  EXPECT_EQ(units.take(0, eight, 100).room, 0);
  EXPECT_EQ(units.take(0, eight, 100).room, 100);  // when the first is served
  EXPECT_EQ(units.take(0, eight, 100).room, 116);
  EXPECT_EQ(units.take(1, eight, 100).room, 0);  // a queue of its own
}

}  // namespace
}  // namespace palladion::sim::hardware
