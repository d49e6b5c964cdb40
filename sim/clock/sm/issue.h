#pragma once
// How an SM issues instructions: its sub-cores' slots and pipes, instruction fetch, branches.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/clock/sm/sub_core.h"
#include "sim/clock/sm/usage.h"
#include "sim/clock/sm/warp.h"

namespace palladion::sim::hardware {

// When an instruction may issue that has its operands at `at`, and what it waits for until then.
struct Opening {
  Cycle at, free;
  Stall why = Stall::math_pipe_throttle;
  // A unit takes it no earlier than at `opens`.
  void wait_for(Cycles opens, Stall reason) {
    if (opens > time_of(std::max(at, free))) free = cycle_of(opens), why = reason;
  }
};

// When would an instruction issue, and when would its pipe take it?
class Issue {
 public:
  Issue(const isa::ClockParameters& p, uint32_t sub_cores, size_t instructions)
      : p_(&p), sub_cores_(sub_cores, SubCore(p)), fetched_(instructions) {}

  // A CTA's warps go to the sub-cores in rotation, from where those of the CTA before have ended.
  uint32_t sub_core_of(uint32_t warp) const { return (next_ + warp) % count(); }
  void place(uint32_t warps) { next_ = sub_core_of(warps); }

  IssueSlot& slot(uint32_t sub_core) { return sub_cores_[sub_core].slot; }
  Pipes& pipes(uint32_t sub_core) { return sub_cores_[sub_core].pipes; }
  uint32_t count() const { return static_cast<uint32_t>(sub_cores_.size()); }

  // When the instruction's pipe has room for it.
  Opening opens(const Warp& w, const InstructionCost& cost, Cycle at) const {
    const Pipes& pipes = sub_cores_[w.sub_core].pipes;
    return {at, pipes.opens(cost.occupies, cost.defers || computes(cost.occupies))};
  }
  // The issue slot and the pipe are the instruction's; returns when the pipe takes it.
  Cycle take(const Warp& w, const InstructionCost& cost, Cycle now, Usage& usage);
  // Cycles until the SASS instructions of the one at `pc` are there: what the SM has not executed yet comes
  // from L2 through its instruction caches.
  Cycles fetch(Pc pc, uint32_t slots) {
    return std::exchange(fetched_[pc], uint8_t{1}) != 0 ? 0 : p_->issue_first_instruction * slots;
  }

  // An iteration of an unrolled loop that continues with the next one without a branch.
  bool runs_on(const Warp& w, const InstructionCost& cost) const {
    return cost.unrolled &&
           (w.iterations + 1) % std::max(1U, static_cast<uint32_t>(p_->branch_unrolled)) != 0;
  }
  // The warp has gone from one pc to another: its next instruction issues later.
  void branch(Warp& w, const InstructionCost& cost, uint32_t from, uint32_t to) const;

 private:
  const isa::ClockParameters* p_;
  std::vector<SubCore> sub_cores_;
  std::vector<uint8_t> fetched_;  // by pc
  uint32_t next_ = 0;             // sub-core of the next CTA's first warp
};

}  // namespace palladion::sim::hardware
