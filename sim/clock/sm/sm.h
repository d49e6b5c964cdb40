#pragma once
// One SM: its units, each of which says when it would serve an instruction.
#include <cstdint>

#include "isa/arch/clock.h"
#include "sim/clock/sm/issue.h"
#include "sim/clock/sm/memory_pipe.h"
#include "sim/clock/sm/tensor_core.h"
#include "sim/clock/sm/tma.h"
#include "sim/clock/sm/usage.h"

namespace palladion::sim::hardware {

struct Sm {
  struct Shape {
    uint32_t sub_cores = 0;
    Cycles fence_interval = 0;  // between two fences
    uint64_t l1_bytes = 0;      // left beside shared memory
    size_t instructions = 0;    // of the program
  };
  Sm(uint32_t place, const isa::ClockParameters& p, const Shape& s)
      : id(place),
        issue(p, s.sub_cores, s.instructions),
        memory(p, s.fence_interval, s.l1_bytes),
        tensor(p),
        tma(p) {}

  // When all units on the instruction's way have room for it.
  Opening opens(const Warp& w, const InstructionCost& cost, Cycle at) const;
  // The instruction issues; returns when its pipe takes it.
  Cycle take(const Warp& w, const InstructionCost& cost, Cycle now);
  MemoryInstruction memory_instruction(Warp& w, const InstructionCost& cost, const LaneAddresses& access,
                                       Cycle now) {
    return {w, cost, access, now, issue.pipes(w.sub_core), tensor, usage};
  }

  uint32_t id = 0;  // its place, GPC by GPC
  Issue issue;
  MemoryPipe memory;
  TensorCore tensor;
  TmaUnit tma;
  Usage usage;
};

}  // namespace palladion::sim::hardware
