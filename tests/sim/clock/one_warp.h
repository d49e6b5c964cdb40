#pragma once
// A warp without a program in the machine, and an instruction by hand whose result another one reads.
#include <optional>

#include "sim/clock/sm/warp.h"
#include "tests/sim/clock/parameters.h"

namespace palladion::sim::hardware {

struct OneWarp {
  explicit OneWarp(const isa::ClockParameters& p) {
    lowered.registers = {0};
    lowered.register_count = 1;
    lowered.code = {{.first_write = 0, .writes = 1}, {.first_read = 0, .reads = 1}};
    costs.emplace(lowered, p);
    instruction = (*costs)[Pc(0)];
    warp.registers.reset(*costs, 0, Cycle(0));
  }
  OneWarp(const OneWarp&) = delete;
  // When the instruction's result is there.
  Cycle ready() const {
    Stall why = Stall::wait;
    return warp.registers.ready((*costs)[Pc(1)], Cycle(0), why);
  }

  sass::Lowered lowered;
  std::optional<InstructionCosts> costs;
  InstructionCost instruction;
  Warp warp;
};

}  // namespace palladion::sim::hardware
