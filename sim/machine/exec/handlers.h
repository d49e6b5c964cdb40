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
Step exec_stack(Exec&, const MicroOp&);  // frames.cpp
Step exec_nanosleep(Exec&, const MicroOp&);
Step exec_unsupported(Exec&, const MicroOp&);
Step exec_nothing(Exec&, const MicroOp&);
// memory.cpp
Step exec_load(Exec&, const MicroOp&);
Step exec_store(Exec&, const MicroOp&);
Step exec_store_bulk(Exec&, const MicroOp&);
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
// tensor_memory.cpp
Step exec_tensor_memory_allocation(Exec&, const MicroOp&);
Step exec_tensor_memory_load(Exec&, const MicroOp&);
Step exec_tensor_memory_store(Exec&, const MicroOp&);
Step exec_tensor_memory_wait(Exec&, const MicroOp&);
Step exec_tensor_memory_fence(Exec&, const MicroOp&);
// sim/machine/async/tcgen05*.cpp
Step exec_tensor_memory_copy(Exec&, const MicroOp&);
Step exec_tcgen05_mma(Exec&, const MicroOp&);
Step exec_tcgen05_commit(Exec&, const MicroOp&);
// sim/machine/async/cluster_launch.cpp
Step exec_try_cancel(Exec&, const MicroOp&);
Step exec_query_cancel(Exec&, const MicroOp&);
// textures.cpp, surfaces.cpp
Step exec_texture_load(Exec&, const MicroOp&);
Step exec_texture_query(Exec&, const MicroOp&);
Step exec_surface_access(Exec&, const MicroOp&);
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
// wmma.cpp
Step exec_wmma_load(Exec&, const MicroOp&);
Step exec_wmma_store(Exec&, const MicroOp&);
Step exec_wmma(Exec&, const MicroOp&);

// One overload an effect: an effect without a handler does not compile.
struct Handlers {
  Handler operator()(const isa::Approx&) const { return exec_pure_general; }
  Handler operator()(const isa::Pure&) const { return exec_pure_general; }
  Handler operator()(const isa::Branch&) const { return exec_branch; }
  Handler operator()(const isa::BranchIndexed&) const { return exec_branch_indexed; }
  Handler operator()(const isa::Call&) const { return exec_call; }
  Handler operator()(const isa::Return&) const { return exec_return; }
  Handler operator()(const isa::Exit&) const { return exec_exit; }
  Handler operator()(const isa::Trap&) const { return exec_trap; }
  Handler operator()(const isa::Stack&) const { return exec_stack; }
  Handler operator()(const isa::Nanosleep&) const { return exec_nanosleep; }
  Handler operator()(const isa::Load&) const { return exec_load; }
  Handler operator()(const isa::Store&) const { return exec_store; }
  Handler operator()(const isa::StoreBulk&) const { return exec_store_bulk; }
  Handler operator()(const isa::Atomic&) const { return exec_atomic; }
  Handler operator()(const isa::Prefetch&) const { return exec_prefetch; }
  Handler operator()(const isa::Fence&) const { return exec_fence; }
  Handler operator()(const isa::ConvertAddress&) const { return exec_convert_address; }
  Handler operator()(const isa::IsSpace&) const { return exec_is_space; }
  Handler operator()(const isa::MapShared&) const { return exec_map_shared; }
  Handler operator()(const isa::GetCtaRank&) const { return exec_get_cta_rank; }
  Handler operator()(const isa::Shuffle&) const { return exec_shuffle; }
  Handler operator()(const isa::Vote&) const { return exec_vote; }
  Handler operator()(const isa::Match&) const { return exec_match; }
  Handler operator()(const isa::Redux&) const { return exec_redux; }
  Handler operator()(const isa::Elect&) const { return exec_elect; }
  Handler operator()(const isa::ActiveMask&) const { return exec_active_mask; }
  Handler operator()(const isa::WarpSync&) const { return exec_warp_sync; }
  Handler operator()(const isa::LoadMatrix&) const { return exec_load_matrix; }
  Handler operator()(const isa::StoreMatrix&) const { return exec_store_matrix; }
  Handler operator()(const isa::MoveMatrix&) const { return exec_move_matrix; }
  Handler operator()(const isa::CtaBarrier&) const { return exec_cta_barrier; }
  Handler operator()(const isa::ClusterBarrier&) const { return exec_cluster_barrier; }
  Handler operator()(const isa::Mbarrier&) const { return exec_mbarrier; }
  Handler operator()(const isa::CpAsync&) const { return exec_cp_async; }
  Handler operator()(const isa::CpAsyncCommit&) const { return exec_cp_async_commit; }
  Handler operator()(const isa::CpAsyncWait&) const { return exec_cp_async_wait; }
  Handler operator()(const isa::CpAsyncMbarrierArrive&) const { return exec_cp_async_mbarrier_arrive; }
  Handler operator()(const isa::BulkCopy&) const { return exec_bulk_copy; }
  Handler operator()(const isa::TensorCopy&) const { return exec_tensor_copy; }
  Handler operator()(const isa::BulkCommit&) const { return exec_bulk_commit; }
  Handler operator()(const isa::BulkWait&) const { return exec_bulk_wait; }
  Handler operator()(const isa::StoreAsync&) const { return exec_store_async; }
  Handler operator()(const isa::ReduceAsync&) const { return exec_reduce_async; }
  Handler operator()(const isa::TensormapReplace&) const { return exec_tensormap_replace; }
  Handler operator()(const isa::Wgmma&) const { return exec_wgmma; }
  Handler operator()(const isa::WgmmaFence&) const { return exec_wgmma_fence; }
  Handler operator()(const isa::WgmmaCommit&) const { return exec_wgmma_commit; }
  Handler operator()(const isa::WgmmaWait&) const { return exec_wgmma_wait; }
  Handler operator()(const isa::Mma&) const { return exec_mma; }
  Handler operator()(const isa::WmmaLoad&) const { return exec_wmma_load; }
  Handler operator()(const isa::WmmaStore&) const { return exec_wmma_store; }
  Handler operator()(const isa::Wmma&) const { return exec_wmma; }
  Handler operator()(const isa::TensorMemoryAllocation&) const { return exec_tensor_memory_allocation; }
  Handler operator()(const isa::TensorMemoryLoad&) const { return exec_tensor_memory_load; }
  Handler operator()(const isa::TensorMemoryStore&) const { return exec_tensor_memory_store; }
  Handler operator()(const isa::TensorMemoryWait&) const { return exec_tensor_memory_wait; }
  Handler operator()(const isa::TensorMemoryFence&) const { return exec_tensor_memory_fence; }
  Handler operator()(const isa::TensorMemoryCopy&) const { return exec_tensor_memory_copy; }
  Handler operator()(const isa::Tcgen05Mma&) const { return exec_tcgen05_mma; }
  Handler operator()(const isa::Tcgen05Commit&) const { return exec_tcgen05_commit; }
  Handler operator()(const isa::TryCancel&) const { return exec_try_cancel; }
  Handler operator()(const isa::QueryCancel&) const { return exec_query_cancel; }
  Handler operator()(const isa::TextureLoad&) const { return exec_texture_load; }
  Handler operator()(const isa::SurfaceAccess&) const { return exec_surface_access; }
  Handler operator()(const isa::TextureQuery&) const { return exec_texture_query; }
  Handler operator()(const isa::SetMaxRegisters&) const { return exec_set_max_registers; }
  Handler operator()(const isa::GridDependency&) const { return exec_nothing; }
  Handler operator()(const isa::Unsupported&) const { return exec_unsupported; }
};

}  // namespace palladion::sim
