#pragma once
// Runs without the tensors' contents (Values::none): control flow, addresses, barriers and the protocol of
// asynchronous operations are exact, tensor data are neither moved nor computed.
//
// A program is rewritten once, before it runs; schedules are unaffected. Pure instructions on tensor data
// do nothing. Loads, stores and asynchronous operations on them check their addresses and follow their
// protocol without touching the bytes (MicroOp::moves). Weak stores to GMEM are not performed either, unless
// control reads GMEM. What control reads from memory is checked when it is read: `unmaterialised` of CTAs and
// of GlobalMemory marks the missing bytes.
//
// Known in shared memory: what ordinary stores, atomics and st.async of known values wrote (a tile index that
// one warp broadcasts), the initial zeros, mbarriers. Not known: the results of copies, even from known
// sources; values that passed through shared memory twice.
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

// Rewrites the program; or returns why it cannot run without values (PLD3120, three at most).
isa::Diagnostics drop_values(Program& program);

// Records whether a store or copy to shared memory has moved its bytes (`moved`).
inline void note_shared(ClusterState& cluster, uint32_t address, uint32_t bytes, bool moved) {
  CtaState& cta = cluster.ctas[address >> cta_rank_shift];
  if (!cta.unmaterialised.empty())
    mark_unmaterialised<1>(cta.unmaterialised.data(), address & shared_offset_mask, bytes, !moved);
}

// Handlers of control's reads and of stores, in programs where control reads memory.
Step exec_checked_load(Exec&, const MicroOp&);
Step exec_checked_atomic(Exec&, const MicroOp&);
Step exec_checked_fence(Exec&, const MicroOp&);
Step exec_checked_replace(Exec&, const MicroOp&);
Step exec_checked_tensor_copy(Exec&, const MicroOp&);
Step exec_noted_store(Exec&, const MicroOp&);
Step exec_noted_atomic(Exec&, const MicroOp&);

// "the branch at line 12"
std::string describe_need(const Program& program, uint32_t pc, int operand, bool address);

}  // namespace palladion::sim
