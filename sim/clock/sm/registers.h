#pragma once
// The registers of a warp: when their values are there, and on which scoreboard those of loads wait.
#include <array>
#include <cstdint>
#include <vector>

#include "sim/clock/sm/answers.h"
#include "sim/clock/sm/instruction_cost.h"

namespace palladion::sim::hardware {

// When would an instruction have its operands?
class WarpRegisters {
 public:
  // Of warp `warp`, all there at `time`.
  void reset(const InstructionCosts& costs, uint32_t warp, Cycle time);

  // Not before `at`; `never` while L2 has not answered. `why`: what the instruction waits for, if it does.
  Cycle ready(const InstructionCost& cost, Cycle at, Stall& why) const;
  // Its results are there at `time`, or so many cycles after an answer.
  void set_ready(const InstructionCost& cost, Cycle time);
  void set_unanswered(const InstructionCost& cost, uint32_t answer, uint32_t offset);
  // The instruction has issued; its results follow its operands by `latency`, whenever those come.
  void defer(const InstructionCost& cost, Cycle now, uint32_t latency, Answers& answers);

  // A load of GMEM joins its scoreboard: its values are there when those of all loads on it are. `issued`:
  // the warp's last issue.
  void share_scoreboard(const InstructionCost& cost, Cycle issued, Answers& answers);
  // An instruction that has waited for a scoreboard has all its loads; copies wait as what they are copied
  // from.
  void pass_scoreboard(const InstructionCost& cost);

  // Values that waited for answers have their times now.
  void resolve(const Answers& answers);
  bool is_unanswered() const { return unanswered_; }

  // A drain: nothing more issues before the operands of all instructions so far are there. False while L2 has
  // not answered; `at` is moved to when they are, `why` says what they wait for.
  void drain() { draining_ = true; }
  // All lanes have their results before the warp goes on.
  void drain_answers() { draining_ = deferred_ = true; }
  bool drained(Cycle& at, Stall& why);

 private:
  struct Value {
    Cycle ready;  // cycle in which it is there; `never` while it depends on a request that L2 has
                  // not answered
    uint32_t answer = 0, offset = 0;  // then: of which, and how many cycles after the answer
    Stall source = Stall::wait;       // what gives it
    Resource pipe = Resource::issue;  // that computes it
    uint8_t scoreboard = 0;           // from 1: of the load that brings it
  };

  const InstructionCosts* costs_ = nullptr;
  uint32_t warp_ = 0;
  std::vector<Value> values_;  // by register number
  // Loads that share a scoreboard: the registers that wait for it; which of them have any, a bit each.
  std::array<std::vector<uint32_t>, sass::scoreboard_count> scoreboards_;
  uint8_t scoreboards_used_ = 0;
  bool unanswered_ = false, deferred_ = false;  // some register waits; some instruction's operand
  bool draining_ = false;
  // When the last instruction so far has had its operands, and what it waited for.
  Cycle horizon_;
  Stall horizon_source_ = Stall::wait;
  void reach(Cycle time, Stall source) {
    if (time > horizon_) horizon_ = time, horizon_source_ = source;
  }
};

}  // namespace palladion::sim::hardware
