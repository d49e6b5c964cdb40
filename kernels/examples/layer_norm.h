#pragma once
// Each row less its mean, over its standard deviation, times a weight and plus a bias a column; the mean and
// 1 / deviation of each row are kept for layer_norm_backward.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct LayerNorm {
  int64_t m = 4096, n = 4096;  // n: at most 8192
  pl::DType dtype = pl::bf16;  // f32, f16, bf16, of x, weight, bias, y; computed in f32
  double epsilon = 1e-5;       // added to the variance
};

// Inputs: x (m, n), weight (n), bias (n). Outputs: y (m, n); mean (m) and rstd (m), f32.
plgpu::Kernel layer_norm(const LayerNorm& config);

}  // namespace palladion::kernels
