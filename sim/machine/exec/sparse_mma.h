#pragma once
// mma.sp on whole matrices: sim/numerics' mma_sync, and the types that it has only dense.
#include <cstdint>

#include "sim/numerics/tensor_core_mma_sync.h"

namespace palladion::sim {

// Not: 4-bit with .satfinite, since where Hopper clamps has not been measured.
bool sparse_mma_is_modelled(const numerics::tc::MmaSync& op);

// a: op.m rows of op.k packed elements, zeros where selected[m] has no bit k. b, c, d as for tc::mma_sync.
void sparse_mma(const numerics::tc::MmaSync& op, const uint8_t* a, const uint8_t* b, const void* c, void* d,
                const uint64_t* selected);

}  // namespace palladion::sim
