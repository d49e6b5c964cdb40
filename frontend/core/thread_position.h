#pragma once
// Where a lane is in its CTA, computed once at the kernel's entry. "Thread" is Pallas': a warpgroup.
#include "frontend/core/emitter.h"

namespace palladion::frontend {

class ThreadPosition {
 public:
  // `threads`: warpgroups of a CTA.
  ThreadPosition(Emitter& emitter, int64_t threads) : emitter_(emitter), threads_(threads) {}

  Operand tid();            // 0 .. block size - 1
  Operand lane_in_group();  // 0 .. 127
  Operand index();          // of the warpgroup, uniform in a warp
  Operand warp_index();     // 0 .. 3 in the warpgroup, uniform in a warp
  Operand elected();        // predicate: one lane of the warpgroup
  Operand elected_in_warp();
  Operand named_barrier();  // the number of the warpgroup's bar.sync

  // The registers of index() and elected(), if the kernel has used them.
  const Operand& known_index() const { return index_; }
  const Operand& known_elected() const { return elected_; }

 private:
  Operand broadcast_lane_0(const Operand& value);

  Emitter& emitter_;
  int64_t threads_;
  Operand index_, elected_, elected_in_warp_;
};

}  // namespace palladion::frontend
