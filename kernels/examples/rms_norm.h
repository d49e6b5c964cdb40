#pragma once
// Each row divided by its root mean square, times a weight a column: a CTA a row, or persistent CTAs to which
// rows come by bulk copies while others are computed.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct RmsNorm {
  int64_t m = 4096, n = 4096;  // n: at most 8192; with bulk copies a multiple of 128
  pl::DType dtype = pl::bf16;  // f32, f16, bf16, of all arrays; computed in f32
  int64_t ctas = 0;            // of the persistent grid; 0: one a row, which loads it into registers
  int64_t stages = 3;          // rows of a persistent CTA in flight
  double epsilon = 1e-5;       // added to the mean of squares
  bool profile = false;        // scopes: wait, load, reduce, store
};

// Inputs: x (m, n), weight (n). Output: (m, n).
plgpu::Kernel rms_norm(const RmsNorm& config);

}  // namespace palladion::kernels
