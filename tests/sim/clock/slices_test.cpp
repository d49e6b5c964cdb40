// When would a slice of L2 begin with a line? Four slices of 32 bytes a cycle, two in each half.
#include "sim/clock/memory/slices.h"

#include <gtest/gtest.h>

#include "tests/sim/clock/parameters.h"

namespace palladion::sim::hardware {
namespace {

class SlicesTest : public testing::Test {
 protected:
  const isa::ClockParameters p = round_numbers();
  Slices slices{p, Partitions(2)};
};

TEST_F(SlicesTest, ShortReadsTakeAsLongAsLongerOnes) {
  EXPECT_EQ(slices.read_cycles(32), 2);
  EXPECT_EQ(slices.read_cycles(64), 2);
  EXPECT_EQ(slices.read_cycles(128), 4);
}

TEST_F(SlicesTest, ASliceReadsOneLineAfterTheOther) {
  EXPECT_EQ(slices.read(8, 0, 100, 4), 100);
  EXPECT_EQ(slices.read(8, 0, 100, 4), 104);
  EXPECT_EQ(slices.read(8, 1, 100, 4), 100);  // of the other half
  EXPECT_EQ(slices.busy(), 3);                // twelve cycles of a quarter of L2
}

TEST_F(SlicesTest, WritesDoNotWaitForReads) {
  slices.read(8, 0, 100, 50);
  EXPECT_EQ(slices.write(8, 0, 100, 32), 100);
  EXPECT_EQ(slices.write(8, 0, 100, 32), 102);
}

TEST_F(SlicesTest, AStoreTakesSomeOfWhatReadsNeed) {
  EXPECT_EQ(slices.store(8, 0, 100, 96), 100);
  // (2 / 128 - 1 / 128) / 1.5 of a cycle a byte and slice: a store passes 1.5 halves in the mean.
  EXPECT_DOUBLE_EQ(slices.read(8, 0, 100, 4), 102);
  EXPECT_DOUBLE_EQ(slices.store(8, 0, 100, 96), 106);  // writes could begin at 106, reads too
}

}  // namespace
}  // namespace palladion::sim::hardware
