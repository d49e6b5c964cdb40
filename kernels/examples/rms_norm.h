#pragma once
// Each row divided by its root mean square, times a weight a column: persistent CTAs, rows loaded by bulk
// copies while others are computed.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct RmsNorm {
  int64_t m = 4096, n = 4096;                       // n: a multiple of 128, at most 8192
  pl::DType dtype = pl::bf16;                       // f32, f16, bf16, of all arrays; computed in f32
  int64_t ctas = 2 * isa::default_arch().sm_count;  // of the persistent grid
  int64_t stages = 3;                               // rows of a CTA in flight
  double epsilon = 1e-5;                            // added to the mean of squares
  bool profile = false;                             // scopes: wait, load, reduce, store
};

// Inputs: x (m, n), weight (n). Output: (m, n).
plgpu::Kernel rms_norm(const RmsNorm& config);

}  // namespace palladion::kernels
