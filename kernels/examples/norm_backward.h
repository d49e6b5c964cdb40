#pragma once
// The gradients of layer_norm and rms_norm: of x row by row; of weight and bias summed over the rows, first
// by each CTA over its own, then by further CTAs, each for a strip of columns.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct NormBackward {
  int64_t m = 4096, n = 4096;  // n: at most 4096
  pl::DType dtype = pl::bf16;  // f32, f16, bf16, of all but mean and rstd; computed in f32
  int64_t ctas = 2 * isa::default_arch().sm_count;  // that walk over the rows
  double epsilon = 1e-5;                            // of rms_norm: added to the mean of squares
};

// Inputs: dy (m, n), x (m, n), weight (n); mean (m) and rstd (m), f32, as layer_norm leaves them. Outputs: dx
// (m, n), dweight (n), dbias (n).
plgpu::Kernel layer_norm_backward(const NormBackward& config);
// Inputs: dy (m, n), x (m, n), weight (n). Outputs: dx (m, n), dweight (n).
plgpu::Kernel rms_norm_backward(const NormBackward& config);

}  // namespace palladion::kernels
