#pragma once
// Softmax with cross entropy: the loss of each row and its gradient, of rows of any length, in parts that a
// warpgroup holds in registers.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct CrossEntropy {
  int64_t m = 1024, n = 32768;  // rows, classes
  pl::DType dtype = pl::bf16;   // f32, f16, bf16, of logits and gradient; computed in f32
  int64_t tile = 8192;          // classes of a part: a multiple of 128, at most 8192
};

// Inputs: logits (m, n); labels (m), s32. Outputs: loss (m), f32; gradient (m, n), softmax less one at the
// label. A row whose label is no class, such as -100, has loss and gradient 0.
plgpu::Kernel cross_entropy(const CrossEntropy& config);

}  // namespace palladion::kernels
