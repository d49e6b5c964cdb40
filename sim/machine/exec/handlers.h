#pragma once
// One handler an effect. exec_X performs isa::X; the files are named after isa/ops' families.
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

template <class E>
const E& effect(const MicroOp& op) {
  return *std::get_if<E>(op.effect);
}

// control.cpp
Step exec_pure(Exec&, const MicroOp&);
Step exec_pure_general(Exec&, const MicroOp&);
Step exec_branch(Exec&, const MicroOp&);
Step exec_branch_indexed(Exec&, const MicroOp&);
Step exec_call(Exec&, const MicroOp&);
Step exec_return(Exec&, const MicroOp&);
Step exec_exit(Exec&, const MicroOp&);
Step exec_trap(Exec&, const MicroOp&);
Step exec_nanosleep(Exec&, const MicroOp&);
Step exec_unsupported(Exec&, const MicroOp&);
Step exec_nothing(Exec&, const MicroOp&);
// memory.cpp
Step exec_load(Exec&, const MicroOp&);
Step exec_store(Exec&, const MicroOp&);
Step exec_prefetch(Exec&, const MicroOp&);
Step exec_fence(Exec&, const MicroOp&);
Step exec_convert_address(Exec&, const MicroOp&);
Step exec_is_space(Exec&, const MicroOp&);
Step exec_map_shared(Exec&, const MicroOp&);
Step exec_get_cta_rank(Exec&, const MicroOp&);
// atomics.cpp
Step exec_atomic(Exec&, const MicroOp&);
// warp_ops.cpp
Step exec_shuffle(Exec&, const MicroOp&);
Step exec_vote(Exec&, const MicroOp&);
Step exec_match(Exec&, const MicroOp&);
Step exec_redux(Exec&, const MicroOp&);
Step exec_elect(Exec&, const MicroOp&);
Step exec_active_mask(Exec&, const MicroOp&);
Step exec_warp_sync(Exec&, const MicroOp&);
Step exec_load_matrix(Exec&, const MicroOp&);
Step exec_store_matrix(Exec&, const MicroOp&);
Step exec_move_matrix(Exec&, const MicroOp&);
// barriers.cpp
Step exec_cta_barrier(Exec&, const MicroOp&);
Step exec_cluster_barrier(Exec&, const MicroOp&);
Step exec_mbarrier(Exec&, const MicroOp&);
Step exec_set_max_registers(Exec&, const MicroOp&);
// async_copies.cpp
Step exec_cp_async(Exec&, const MicroOp&);
Step exec_cp_async_commit(Exec&, const MicroOp&);
Step exec_cp_async_wait(Exec&, const MicroOp&);
Step exec_cp_async_mbarrier_arrive(Exec&, const MicroOp&);
Step exec_bulk_copy(Exec&, const MicroOp&);
Step exec_bulk_commit(Exec&, const MicroOp&);
Step exec_bulk_wait(Exec&, const MicroOp&);
Step exec_store_async(Exec&, const MicroOp&);
Step exec_reduce_async(Exec&, const MicroOp&);
// tensor_copies.cpp
Step exec_tensor_copy(Exec&, const MicroOp&);
Step exec_tensormap_replace(Exec&, const MicroOp&);
// matrix.cpp
Step exec_wgmma(Exec&, const MicroOp&);
Step exec_wgmma_fence(Exec&, const MicroOp&);
Step exec_wgmma_commit(Exec&, const MicroOp&);
Step exec_wgmma_wait(Exec&, const MicroOp&);
Step exec_mma(Exec&, const MicroOp&);

}  // namespace palladion::sim
