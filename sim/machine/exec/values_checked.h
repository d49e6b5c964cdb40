#pragma once
// Runs without values, where control reads memory: which bytes are known (sim/program/compile/drop_values.h).
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

// Records whether a store or copy to shared memory has moved its bytes (`moved`).
inline void note_shared(ClusterState& cluster, uint32_t address, uint32_t bytes, bool moved) {
  CtaState& cta = cluster.ctas[address >> cta_rank_shift];
  if (!cta.unmaterialised.empty())
    mark_unmaterialised<1>(cta.unmaterialised.data(), address & shared_offset_mask, bytes, !moved);
}

// Handlers of DataUse::checked: what control reads.
Step exec_checked(Exec&, const MicroOp&, const isa::Load&);
Step exec_checked(Exec&, const MicroOp&, const isa::Atomic&);
Step exec_checked(Exec&, const MicroOp&, const isa::Fence&);
Step exec_checked(Exec&, const MicroOp&, const isa::TensormapReplace&);
Step exec_checked(Exec&, const MicroOp&, const isa::TensorCopy&);
// Handlers of DataUse::noted: stores to memory that control reads.
Step exec_noted(Exec&, const MicroOp&, const isa::Store&);
Step exec_noted(Exec&, const MicroOp&, const isa::Atomic&);

}  // namespace palladion::sim
