// When would L2 have a line's sectors? 256 bytes may be there that HBM does not have.
#include "sim/clock/memory/held_lines.h"

#include <gtest/gtest.h>

#include "tests/sim/clock/parameters.h"

namespace palladion::sim::hardware {
namespace {

class HeldLinesTest : public testing::Test {
 protected:
  Tag& home(uint64_t line) { return held.find(line, partitions.home_of(line), 0, 0); }

  const isa::ClockParameters p = round_numbers();
  const Partitions partitions{2};
  HeldLines held{p, partitions, 1};
  Slices slices{p, partitions};
};

TEST_F(HeldLinesTest, WhatIsMissingComesFromHbm) {
  Tag& tag = home(5);
  EXPECT_EQ(tag.valid, 0);
  const Cycles there = held.fill(tag, {}, 0b0011, 0, 100, slices);
  EXPECT_GT(there, 500);  // and what the bus takes for it
  EXPECT_LT(there, 501);
  EXPECT_EQ(tag.valid, 0b0011);
  EXPECT_EQ(tag.filled, there);
  EXPECT_EQ(held.hbm().read_bytes(), 64U);
}

TEST_F(HeldLinesTest, TheOtherLineOf256BytesMayComeAlong) {
  held.fill(home(5), {.pairs_of_lines = true}, 0b0001, 0, 100, slices);
  EXPECT_EQ(home(4).valid, 0xF);
  EXPECT_EQ(held.hbm().read_bytes(), 32U + 128U);
}

TEST_F(HeldLinesTest, WhatWasWrittenFirstGoesToHbmFirst) {
  held.mark_dirty(home(1), 0xF, 0, 0);
  held.mark_dirty(home(2), 0xF, 0, 0);
  EXPECT_EQ(held.hbm().written_bytes(), 0U);
  held.mark_dirty(home(3), 0b0001, 0, 0);
  EXPECT_EQ(held.hbm().written_bytes(), 128U);
  EXPECT_EQ(home(1).dirty, 0);
  EXPECT_EQ(home(1).valid, 0xF);  // it is still there
  EXPECT_EQ(home(2).dirty, 0xF);
}

TEST_F(HeldLinesTest, CopiesOfTheOtherHalfAreDropped) {
  const uint32_t far = 1 - partitions.home_of(5);
  home(5).valid = 0xF;
  held.find(5, far, 0, 0).valid = 0xF;
  held.drop_copies(5);
  EXPECT_EQ(held.find(5, far, 0, 0).valid, 0);
  EXPECT_EQ(home(5).valid, 0xF);
}

}  // namespace
}  // namespace palladion::sim::hardware
