// When would an instruction issue, and when would its pipe take it?
#include "sim/clock/sm/issue.h"

#include <gtest/gtest.h>

#include "sim/clock/sm/sm.h"
#include "tests/sim/clock/one_warp.h"

namespace palladion::sim::hardware {
namespace {

class IssueTest : public testing::Test {
 protected:
  const isa::ClockParameters p = round_numbers();
  Issue issue{p, 4, 3};
  OneWarp one{p};
  Warp& warp = one.warp;
  InstructionCost& instruction = one.instruction;
  Usage usage;
};

TEST_F(IssueTest, WarpsOfTheNextCtaGoOnWhereThoseOfTheLastEnded) {
  EXPECT_EQ(issue.sub_core_of(5), 1U);
  issue.place(6);
  EXPECT_EQ(issue.sub_core_of(0), 2U);
}

TEST_F(IssueTest, APipeTakesOneInstructionAfterTheOther) {
  instruction.occupies = Resource::fp64;
  instruction.interval = 2;
  EXPECT_EQ(issue.take(warp, instruction, Cycle(100), usage), 100U);
  EXPECT_EQ(issue.opens(warp, instruction, Cycle(101)).free, 102U);
  EXPECT_EQ(issue.take(warp, instruction, Cycle(101), usage), 102U);
  EXPECT_EQ(issue.slot(0).opens(), 102U);
  warp.sub_core = 1;
  EXPECT_EQ(issue.opens(warp, instruction, Cycle(101)).free, 0U);
  EXPECT_EQ(usage.of(Resource::fp64), 4);
  EXPECT_EQ(usage.instructions, 2U);
}

TEST_F(IssueTest, OnlyTheFirstFetchTakesLonger) {
  EXPECT_EQ(issue.fetch(Pc(1), 4), 2);
  EXPECT_EQ(issue.fetch(Pc(1), 4), 0);
  EXPECT_EQ(issue.fetch(Pc(2), 1), 0.5);
}

TEST_F(IssueTest, TheNextInstructionFollowsTheSequence) {
  instruction.slots = 2;
  instruction.held = 5;
  warp.issue(instruction, Cycle(100), 0, 0);
  EXPECT_EQ(warp.next, 105U);
  warp.issue(instruction, Cycle(105), 0, 8);
  EXPECT_EQ(warp.next, 118U);
  EXPECT_EQ(warp.why, Stall::no_instruction);
}

TEST_F(IssueTest, BranchesTakeTime) {
  warp.next = Cycle(100);
  issue.branch(warp, instruction, 10, 20);
  EXPECT_EQ(warp.next, 110U);
  issue.branch(warp, instruction, 10, 50);  // farther than instructions are fetched ahead
  EXPECT_EQ(warp.next, 130U);
}

TEST_F(IssueTest, AnUnrolledLoopBranchesInEveryFourthIteration) {
  instruction.unrolled = true;
  warp.next = Cycle(100);
  for (int i = 0; i < 3; ++i) issue.branch(warp, instruction, 10, 5);
  EXPECT_EQ(warp.next, 100U);
  issue.branch(warp, instruction, 10, 5);
  EXPECT_EQ(warp.next, 110U);
}

class SmTest : public IssueTest {
 protected:
  Sm sm{0, p, {.sub_cores = 4, .fence_interval = 1, .l1_bytes = 64 << 10, .instructions = 3}};
};

TEST_F(SmTest, TheUnitThatOpensLastSaysWhy) {
  instruction.path = Path::async;
  instruction.unit = isa::Unit::tensor;
  sm.tensor.take(0, {.rows = 64, .columns = 128}, 0);  // until 69
  sm.tensor.take(0, {.rows = 64, .columns = 128}, 0);  // until 133; the queue is full
  const Opening full = sm.opens(warp, instruction, Cycle(50));
  EXPECT_EQ(full.free, 69U);
  EXPECT_EQ(full.why, Stall::gmma);
  instruction.holds = true;
  warp.arrive_free = Cycle(80);
  EXPECT_EQ(sm.opens(warp, instruction, Cycle(50)).free, 80U);
  EXPECT_EQ(sm.opens(warp, instruction, Cycle(50)).why, Stall::mio_throttle);
  EXPECT_LE(sm.opens(warp, instruction, Cycle(90)).free, 90U);
}

TEST_F(SmTest, AShuffleOccupiesTheLoadStoreUnitToo) {
  instruction.unit = isa::Unit::lsu;
  instruction.occupies = Resource::smem;
  instruction.interval = 400;  // 100 cycles of the load-store unit, whose queue holds 16
  sm.take(warp, instruction, Cycle(0));
  warp.sub_core = 1;
  EXPECT_EQ(sm.opens(warp, instruction, Cycle(10)).free, 84U);
  EXPECT_EQ(sm.opens(warp, instruction, Cycle(10)).why, Stall::lg_throttle);
}

}  // namespace
}  // namespace palladion::sim::hardware
