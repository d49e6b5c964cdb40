#pragma once
// The machine executes what issues: its state changes at once, whatever the clock says of the results.
#include <cstdint>

#include "sim/clock/sm/access.h"
#include "sim/clock/sm/answers.h"
#include "sim/clock/sm/warp.h"
#include "sim/schedule/cluster_runner.h"

namespace palladion::sim::hardware {

// What does an instruction touch?
class Execution {
 public:
  Execution(const RunContext& context, const InstructionCosts& costs) : context_(&context), costs_(&costs) {}

  const MicroOp& op(Pc pc) const { return context_->program.code[pc]; }
  Exec of(Warp& w) const;
  // What ptxas folds into other instructions: done at once, its result is there when its sources are. False:
  // the next instruction of the lane group is one of its own.
  bool pass_folded(Warp& w, uint32_t lane_group, Answers& answers);
  // The next instruction of a lane group. The lanes that execute it have the addresses that are returned;
  // they are valid until the next call.
  const LaneAddresses& run(Warp& w, Exec& x);
  // A strong access at the quantum boundary.
  const LaneAddresses& run_at_boundary(Warp& w, uint32_t lane_group);
  // The lanes of a group whose guard is true.
  uint32_t guarded(const Exec& x, Pc pc, uint32_t mask) const;

 private:
  void take_addresses(Exec& x, Pc pc, uint32_t mask);
  void let_others_go(Warp& w, uint32_t lane_group);

  const RunContext* context_;
  const InstructionCosts* costs_;
  LaneAddresses access_;
};

}  // namespace palladion::sim::hardware
