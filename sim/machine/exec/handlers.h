#pragma once
// The handlers: one overload an effect, which performs it. bind.cpp finds them by the effect's type, so an
// effect without a handler does not compile.
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

template <class E>
const E& effect(const MicroOp& op) {
  return *std::get_if<E>(op.effect);
}

// control.cpp
Step compute(Exec&, const MicroOp&);          // Pure and Approx: calls MicroOp::fn
Step compute_general(Exec&, const MicroOp&);  // with negated predicates, clocks, several results
Step exec(Exec&, const MicroOp&, const isa::Branch&);
Step exec(Exec&, const MicroOp&, const isa::BranchIndexed&);
Step exec(Exec&, const MicroOp&, const isa::Return&);
Step exec(Exec&, const MicroOp&, const isa::Exit&);
Step exec(Exec&, const MicroOp&, const isa::Trap&);
Step exec(Exec&, const MicroOp&, const isa::Nanosleep&);
Step exec(Exec&, const MicroOp&, const isa::Unsupported&);
Step exec(Exec&, const MicroOp&, const isa::GridDependency&);
// calls.cpp, frames.cpp
Step exec(Exec&, const MicroOp&, const isa::Call&);
Step exec(Exec&, const MicroOp&, const isa::Stack&);
// memory.cpp
Step exec(Exec&, const MicroOp&, const isa::Load&);
Step exec(Exec&, const MicroOp&, const isa::Store&);
Step exec(Exec&, const MicroOp&, const isa::StoreBulk&);
Step exec(Exec&, const MicroOp&, const isa::Prefetch&);
Step exec(Exec&, const MicroOp&, const isa::Fence&);
// address_ops.cpp
Step exec(Exec&, const MicroOp&, const isa::ConvertAddress&);
Step exec(Exec&, const MicroOp&, const isa::IsSpace&);
Step exec(Exec&, const MicroOp&, const isa::MapShared&);
Step exec(Exec&, const MicroOp&, const isa::GetCtaRank&);
// atomics.cpp
Step exec(Exec&, const MicroOp&, const isa::Atomic&);
// warp_ops.cpp
Step exec(Exec&, const MicroOp&, const isa::Shuffle&);
Step exec(Exec&, const MicroOp&, const isa::Vote&);
Step exec(Exec&, const MicroOp&, const isa::Match&);
Step exec(Exec&, const MicroOp&, const isa::Redux&);
Step exec(Exec&, const MicroOp&, const isa::Elect&);
Step exec(Exec&, const MicroOp&, const isa::ActiveMask&);
Step exec(Exec&, const MicroOp&, const isa::WarpSync&);
// warp_matrices.cpp
Step exec(Exec&, const MicroOp&, const isa::LoadMatrix&);
Step exec(Exec&, const MicroOp&, const isa::StoreMatrix&);
Step exec(Exec&, const MicroOp&, const isa::MoveMatrix&);
// barriers.cpp
Step exec(Exec&, const MicroOp&, const isa::CtaBarrier&);
Step exec(Exec&, const MicroOp&, const isa::ClusterBarrier&);
Step exec(Exec&, const MicroOp&, const isa::SetMaxRegisters&);
// mbarriers.cpp
Step exec(Exec&, const MicroOp&, const isa::Mbarrier&);
Step exec_early_wait(Exec&, const MicroOp&, const isa::Mbarrier&);  // see sim/program/early_waits.h
// tensor_memory.cpp
Step exec(Exec&, const MicroOp&, const isa::TensorMemoryAllocation&);
Step exec(Exec&, const MicroOp&, const isa::TensorMemoryLoad&);
Step exec(Exec&, const MicroOp&, const isa::TensorMemoryStore&);
Step exec(Exec&, const MicroOp&, const isa::TensorMemoryWait&);
Step exec(Exec&, const MicroOp&, const isa::TensorMemoryFence&);
// sim/machine/async/tcgen05*.cpp
Step exec(Exec&, const MicroOp&, const isa::TensorMemoryCopy&);
Step exec(Exec&, const MicroOp&, const isa::Tcgen05Mma&);
Step exec(Exec&, const MicroOp&, const isa::Tcgen05Commit&);
// sim/machine/async/cluster_launch.cpp
Step exec(Exec&, const MicroOp&, const isa::TryCancel&);
Step exec(Exec&, const MicroOp&, const isa::QueryCancel&);
// textures.cpp, surfaces.cpp
Step exec(Exec&, const MicroOp&, const isa::TextureLoad&);
Step exec(Exec&, const MicroOp&, const isa::TextureQuery&);
Step exec(Exec&, const MicroOp&, const isa::SurfaceAccess&);
// sim/machine/async/async_copies*.cpp
Step exec(Exec&, const MicroOp&, const isa::CpAsync&);
Step exec(Exec&, const MicroOp&, const isa::CpAsyncCommit&);
Step exec(Exec&, const MicroOp&, const isa::CpAsyncWait&);
Step exec(Exec&, const MicroOp&, const isa::CpAsyncMbarrierArrive&);
Step exec(Exec&, const MicroOp&, const isa::BulkCopy&);
Step exec(Exec&, const MicroOp&, const isa::BulkCommit&);
Step exec(Exec&, const MicroOp&, const isa::BulkWait&);
Step exec(Exec&, const MicroOp&, const isa::StoreAsync&);
Step exec(Exec&, const MicroOp&, const isa::ReduceAsync&);
// sim/machine/async/tensor_copies.cpp
Step exec(Exec&, const MicroOp&, const isa::TensorCopy&);
Step exec(Exec&, const MicroOp&, const isa::TensormapReplace&);
// sim/machine/async/wgmma.cpp
Step exec(Exec&, const MicroOp&, const isa::Wgmma&);
Step exec(Exec&, const MicroOp&, const isa::WgmmaFence&);
Step exec(Exec&, const MicroOp&, const isa::WgmmaCommit&);
Step exec(Exec&, const MicroOp&, const isa::WgmmaWait&);
// mma_sync.cpp, wmma.cpp
Step exec(Exec&, const MicroOp&, const isa::Mma&);
Step exec(Exec&, const MicroOp&, const isa::WmmaLoad&);
Step exec(Exec&, const MicroOp&, const isa::WmmaStore&);
Step exec(Exec&, const MicroOp&, const isa::Wmma&);

}  // namespace palladion::sim
