#pragma once
// D = A B by one warpgroup a CTA: several stages of tiles in flight, each refilled one step after its product
// was issued.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct MatmulPipelined {
  int64_t m = 4096, n = 4096, k = 4096;
  pl::DType dtype = pl::f16;      // of A and B: f16, bf16
  pl::DType out_dtype = pl::f16;  // of D: f16, bf16, f32
  int64_t tile_m = 128, tile_n = 128, tile_k = 64;
  int64_t stages = 4;
  int64_t band = 8;  // tiles of n in a band of the snake order
};

// Inputs: A (m, k), B (k, n). Output: D (m, n). Tiles must divide the shapes.
plgpu::Kernel matmul_pipelined(const MatmulPipelined& config);

}  // namespace palladion::kernels
