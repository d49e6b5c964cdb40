#pragma once
// What an instruction costs the SM that issues it: the SASS that ptxas makes of it (sim/sass), priced with
// the architecture's numbers.
#include <cstdint>
#include <span>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/clock/memory/cycles.h"
#include "sim/launch/clock.h"
#include "sim/sass/lowered.h"

namespace palladion::sim::hardware {

using sass::Path;

// The pipes of arithmetic: each has a short queue, and a value that goes from one to another takes longer.
constexpr bool computes(Resource pipe) {
  return pipe == Resource::alu || pipe == Resource::fma || pipe == Resource::sfu;
}

struct InstructionCost : sass::LoweredInstruction {
  Resource occupies = Resource::issue;  // the pipe's resource
  Stall result = Stall::wait;           // what a warp waits for that needs its result
  Cycles interval = 1;                  // cycles of the pipe
  Cycles held = 1;                      // cycles until the warp issues its next instruction, at least
  uint32_t latency = 0;
  uint32_t port = 1;                       // cycles of shared memory's port that a pass takes
  uint32_t release = 0;                    // cycles of the fence in front of a release; 0: there is none
  uint32_t gathering = 0, scattering = 0;  // until one lane has the sum of all; from its answer until all
                                           // have their results
  // Through a path of the sub-core into the SM's load-store unit.
  bool shuffles() const { return unit == isa::Unit::lsu && path == Path::plain; }
};

class InstructionCosts {
 public:
  InstructionCosts(const sass::Lowered& lowered, const isa::ClockParameters& parameters);

  const InstructionCost& operator[](Pc pc) const { return costs_[pc]; }
  // Registers by number, dense from 0.
  std::span<const uint32_t> reads(const InstructionCost& c) const { return lowered_.reads(c); }
  std::span<const uint32_t> writes(const InstructionCost& c) const { return lowered_.writes(c); }
  uint32_t register_count() const { return lowered_.register_count; }

  Cycles fence_interval() const { return fence_interval_; }  // cycles between two fences of an SM
  // Cycles more for a value that another of the arithmetic pipes has computed, for one that a branch waits
  // for.
  uint64_t hand_over(Resource from, Resource to) const {
    return from != to && computes(from) && computes(to) ? hand_over_ : 0;
  }
  uint64_t branch_predicate() const { return branch_predicate_; }

 private:
  const sass::Lowered& lowered_;
  std::vector<InstructionCost> costs_;
  Cycles fence_interval_;
  uint64_t hand_over_, branch_predicate_;
};

}  // namespace palladion::sim::hardware
