// When would a wgmma be served? m64n128k16 of 16-bit elements takes 64 cycles at 2048 products a cycle.
#include "sim/clock/sm/tensor_core.h"

#include <gtest/gtest.h>

#include "tests/sim/clock/parameters.h"

namespace palladion::sim::hardware {
namespace {

class TensorCoreTest : public testing::Test {
 protected:
  const isa::ClockParameters p = round_numbers();
  TensorCore core{p};
  const TensorCore::Product product{.rows = 64, .columns = 128};
};

TEST_F(TensorCoreTest, ProductsFollowEachOther) {
  const TensorCore::Served first = core.take(0, product, 100);
  EXPECT_EQ(first.start, 105);
  EXPECT_EQ(first.end, 169);
  EXPECT_EQ(first.landed, 105 + 64 + 25);
  EXPECT_EQ(first.reads, 48);  // (64 + 128) rows of 32 bytes, 128 bytes a cycle
  EXPECT_EQ(core.take(0, product, 110).start, 169);
}

TEST_F(TensorCoreTest, NarrowProductsAreBoundByTheirOperands) {
  const TensorCore::Served s = core.take(0, {.rows = 64, .columns = 8}, 0);
  EXPECT_EQ(s.cycles, 18);  // (64 + 8) * 32 / 128; 4 cycles of products
  const TensorCore::Served registers = core.take(0, {.rows = 64, .columns = 8, .a_in_registers = true}, 100);
  EXPECT_EQ(registers.cycles, 13);  // the least
  EXPECT_EQ(registers.landed, 105 + 4 + 15);
}

TEST_F(TensorCoreTest, TheQueueTakesTwo) {
  EXPECT_EQ(core.opens(), 0);
  core.take(0, product, 0);
  core.take(4, product, 0);
  EXPECT_EQ(core.opens(), 69);  // the first has ended
  core.take(0, product, 0);
  EXPECT_EQ(core.opens(), 133);
}

TEST_F(TensorCoreTest, LongSequencesWaitOnlyBesideAnotherWarpgroup) {
  core.take(0, product, 0);
  EXPECT_EQ(core.sequences_open(0, 10), 0);
  core.take(1, product, 0);
  EXPECT_EQ(core.sequences_open(0, 10), 69 + 25);  // its own, and 25 more
  EXPECT_EQ(core.sequences_open(1, 10), 69 + 25);  // as if it were alone
  EXPECT_EQ(core.sequences_open(0, 200), 0);       // all have ended
}

TEST_F(TensorCoreTest, ItReadsUntilItsEnd) {
  core.take(0, product, 0);
  EXPECT_TRUE(core.is_reading(68));
  EXPECT_FALSE(core.is_reading(69));
  EXPECT_EQ(core.port_left(68), 0.25);
  EXPECT_EQ(core.port_left(69), 1);
}

}  // namespace
}  // namespace palladion::sim::hardware
