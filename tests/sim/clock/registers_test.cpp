// When would an instruction have its operands?
#include "sim/clock/sm/registers.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/sim/clock/parameters.h"

namespace palladion::sim::hardware {
namespace {

// A program by hand: each instruction reads and writes registers by number.
class RegistersTest : public testing::Test {
 protected:
  sass::LoweredInstruction& add(const std::vector<uint32_t>& reads, const std::vector<uint32_t>& writes) {
    sass::LoweredInstruction l{.unit = isa::Unit::alu,
                               .pipe = isa::Unit::alu,
                               .row = static_cast<uint16_t>(isa::op_key("alu")),
                               .defers = true};
    l.first_read = append(reads), l.reads = static_cast<uint32_t>(reads.size());
    l.first_write = append(writes), l.writes = static_cast<uint32_t>(writes.size());
    lowered.code.push_back(l);
    return lowered.code.back();
  }
  void add_load(uint32_t writes, uint8_t scoreboard) {
    sass::LoweredInstruction& l = add({}, {writes});
    l.path = Path::global_load;
    l.scoreboard = scoreboard;
  }
  void begin() {
    lowered.register_count = 8;
    costs.emplace(lowered, p);
    registers.reset(*costs, 0, Cycle(100));
  }
  Cycle ready(uint32_t pc, uint64_t at = 100) {
    Stall why = Stall::wait;
    return registers.ready((*costs)[Pc(pc)], Cycle(at), why);
  }
  // The quantum's only request is done.
  void answer(uint64_t time) {
    Batch batch;
    batch.requests.push_back({.done = Cycle(time)});
    answers.serve(batch);
    registers.resolve(answers);
    answers.clear();
  }

  const isa::ClockParameters p = [] {
    isa::ClockParameters q = round_numbers();
    q.issue_other_pipe = 1;
    q.issue_branch_predicate = 9;
    return q;
  }();
  sass::Lowered lowered;
  std::optional<InstructionCosts> costs;
  WarpRegisters registers;
  Answers answers;

 private:
  uint32_t append(const std::vector<uint32_t>& list) {
    const auto first = static_cast<uint32_t>(lowered.registers.size());
    lowered.registers.insert(lowered.registers.end(), list.begin(), list.end());
    return first;
  }
};

TEST_F(RegistersTest, AValueIsThereAfterItsLatency) {
  add({}, {0});
  add({0}, {1});
  begin();
  EXPECT_EQ(ready(1), 100U);
  registers.set_ready((*costs)[Pc(0)], Cycle(120));
  EXPECT_EQ(ready(1), 120U);
  EXPECT_EQ(ready(1, 130), 130U);
}

TEST_F(RegistersTest, AnotherPipeAndABranchTakeItLater) {
  add({}, {0});
  add({0}, {1}).pipe = isa::Unit::fma;
  sass::LoweredInstruction& branch = add({0}, {});
  branch.unit = branch.pipe = isa::Unit::branch;
  branch.branches = true;
  begin();
  registers.set_ready((*costs)[Pc(0)], Cycle(120));
  EXPECT_EQ(ready(1), 121U);
  EXPECT_EQ(ready(2), 129U);
}

TEST_F(RegistersTest, AResultFollowsItsOperands) {
  add({}, {0});
  add({0}, {1});
  add({1}, {2});
  begin();
  registers.set_ready((*costs)[Pc(0)], Cycle(150));
  registers.defer((*costs)[Pc(1)], Cycle(101), 4, answers);
  EXPECT_EQ(ready(2), 154U);
}

TEST_F(RegistersTest, WhatL2HasNotAnsweredIsNeverReadyUntilItHas) {
  add_load(0, 0);
  add({0}, {1});
  add({1}, {2});
  begin();
  registers.set_unanswered((*costs)[Pc(0)], answers.wait({.request = 0}), 0);
  registers.defer((*costs)[Pc(1)], Cycle(101), 4, answers);
  EXPECT_EQ(ready(2), never);
  EXPECT_TRUE(registers.is_unanswered());
  answer(400);
  EXPECT_FALSE(registers.is_unanswered());
  EXPECT_EQ(ready(1), 400U);
  EXPECT_EQ(ready(2), 404U);
}

TEST_F(RegistersTest, LoadsOfAScoreboardAreThereTogether) {
  add_load(0, 1);
  add_load(1, 1);
  add_load(2, 2);
  add({0}, {3});
  add({2}, {3});
  begin();
  registers.set_ready((*costs)[Pc(0)], Cycle(130));
  registers.share_scoreboard((*costs)[Pc(0)], Cycle(100), answers);
  registers.set_ready((*costs)[Pc(1)], Cycle(170));
  registers.share_scoreboard((*costs)[Pc(1)], Cycle(100), answers);
  registers.set_ready((*costs)[Pc(2)], Cycle(140));
  registers.share_scoreboard((*costs)[Pc(2)], Cycle(100), answers);
  EXPECT_EQ(ready(3), 170U);
  EXPECT_EQ(ready(4), 140U);
  registers.pass_scoreboard((*costs)[Pc(3)]);  // waited: the next load on it stands alone
  registers.set_ready((*costs)[Pc(0)], Cycle(300));
  registers.share_scoreboard((*costs)[Pc(0)], Cycle(200), answers);
  EXPECT_EQ(ready(3), 300U);
}

TEST_F(RegistersTest, ADrainWaitsForTheOperandsOfAllBefore) {
  add({}, {0});
  add({0}, {1});
  begin();
  registers.set_ready((*costs)[Pc(0)], Cycle(150));
  registers.defer((*costs)[Pc(1)], Cycle(101), 4, answers);
  Cycle at(110);
  Stall why = Stall::branch_resolving;
  EXPECT_TRUE(registers.drained(at, why));
  EXPECT_EQ(at, 110U);
  EXPECT_EQ(why, Stall::branch_resolving);
  registers.drain();
  EXPECT_TRUE(registers.drained(at, why));
  EXPECT_EQ(at, 150U);
  EXPECT_EQ(why, (*costs)[Pc(0)].result);  // what the operand comes from
}

}  // namespace
}  // namespace palladion::sim::hardware
