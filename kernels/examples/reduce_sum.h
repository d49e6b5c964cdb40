#pragma once
// The sum of an array: each lane sums what it loads, a warpgroup its lanes, and one atomic addition a CTA
// ends it.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct ReduceSum {
  int64_t n = 1 << 24;
  pl::DType dtype = pl::f32;  // f32, s32
  int64_t tile = 4096;        // elements a CTA loads at a time: a multiple of 128 that divides n
  int64_t ctas = 4 * isa::default_arch().sm_count;  // of the persistent grid
};

// Inputs: x (n), start (1). Output: (1), start and all of x.
plgpu::Kernel reduce_sum(const ReduceSum& config);

}  // namespace palladion::kernels
