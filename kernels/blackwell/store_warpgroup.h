#pragma once
// Two warpgroups: the first computes tiles, the second stores them. The accumulator has two slots.
#include "kernels/blackwell/warps.h"

namespace palladion::kernels::blackwell {

// Options of such a kernel; also "stored": an arrival of each CTA's second warpgroup that has read a slot.
plgpu::KernelOptions two_warpgroups(const char* kernel, const MatmulConfig& c);

// One tile, the `local_index`-th of this pair. `store` takes the products in `x.acc` out, in the second
// warpgroup; if none is given, the whole tile to `x.out`.
void compute_and_store(const MatmulConfig& c, const Operands& x, const PairTile& tile,
                       const Scalar& local_index,
                       const std::function<void(const Operands& x)>& store = nullptr);

}  // namespace palladion::kernels::blackwell
