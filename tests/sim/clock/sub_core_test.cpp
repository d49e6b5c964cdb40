// When would a sub-core's slot and pipes take an instruction?
#include "sim/clock/sm/sub_core.h"

#include <gtest/gtest.h>

#include "tests/sim/clock/parameters.h"

namespace palladion::sim::hardware {
namespace {

TEST(IssueSlot, OneInstructionACycle) {
  IssueSlot slot;
  slot.take(Cycle(100), 2);  // a sequence of two
  EXPECT_EQ(slot.opens(), 102U);
}

TEST(IssueSlot, WarpsThatWaitAreServedInTheirOrder) {
  IssueSlot slot;
  slot.take(Cycle(100), 1);
  slot.wait(7);
  slot.wait(3);
  EXPECT_FALSE(slot.next(Cycle(100)).has_value());
  EXPECT_EQ(slot.next(Cycle(101)), 7U);
  EXPECT_EQ(slot.next(Cycle(101)), 3U);
  EXPECT_FALSE(slot.next(Cycle(101)).has_value());
}

TEST(IssueSlot, OneEventIsUnderWayWhileWarpsWait) {
  IssueSlot slot;
  EXPECT_FALSE(slot.needs_event());
  slot.wait(7);
  EXPECT_TRUE(slot.needs_event());
  EXPECT_FALSE(slot.needs_event());
  slot.event_came();
  EXPECT_TRUE(slot.needs_event());
}

TEST(Pipes, AreOccupiedForTheInterval) {
  Pipes pipes(round_numbers());
  EXPECT_EQ(pipes.take(Resource::alu, 100, 2.5), 100);
  EXPECT_EQ(pipes.opens(Resource::alu, false), 103U);
  EXPECT_EQ(pipes.take(Resource::alu, 101, 2), 102.5);
  EXPECT_EQ(pipes.take(Resource::fma, 101, 2), 101);
}

TEST(Pipes, ArithmeticWaitsInAQueueOfSixteenCycles) {
  Pipes pipes(round_numbers());
  pipes.take(Resource::alu, 0, 30);
  EXPECT_EQ(pipes.opens(Resource::alu, true), 14U);
  EXPECT_EQ(pipes.opens(Resource::alu, false), 30U);
}

TEST(Pipes, AreHeldAtLeastUntil) {
  Pipes pipes(round_numbers());
  pipes.hold(Resource::smem, 20);
  pipes.hold(Resource::smem, 10);
  EXPECT_EQ(pipes.opens(Resource::smem, false), 20U);
}

}  // namespace
}  // namespace palladion::sim::hardware
