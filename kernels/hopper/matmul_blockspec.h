#pragma once
// D = f(A B): a grid of tiles, block specs that state what each step fetches, an activation given as a
// function.
#include "frontend/plgpu.h"
#include "kernels/frame/activations.h"

namespace palladion::kernels {

struct MatmulBlockspec {
  int64_t m = 4096, n = 4096, k = 4096;
  pl::DType dtype = pl::f16;      // of A and B: f16, bf16
  pl::DType out_dtype = pl::f16;  // of D: f16, bf16, f32
  int64_t tile_m = 128, tile_n = 128, tile_k = 64;
  int64_t stages = 4;  // blocks of A and B in flight
};

// Inputs: A (m, k), B (k, n). Output: D (m, n). Tiles must divide the shapes.
plgpu::Kernel matmul_blockspec(const MatmulBlockspec& config,
                               const std::function<plgpu::Array(const plgpu::Array&)>& activation);

}  // namespace palladion::kernels
