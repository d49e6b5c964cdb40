#pragma once
// D = A B with the depth split among CTAs: partial tiles are added in global memory one after another, in an
// order that a semaphore a tile keeps, so that the sum has the same bits every time.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct MatmulSplitK {
  int64_t m = 512, n = 512, k = 8192;
  pl::DType dtype = pl::f16;  // of A and B: f16, bf16; D is f32
  int64_t splits = 8;
  int64_t tile_m = 128, tile_n = 128, tile_k = 64;
  int64_t stages = 4;
  // CTAs of the persistent grid. All must run at once: they wait for one another.
  int64_t ctas = isa::default_arch().sm_count;
  bool profile = false;  // scopes: main loop, turn, add
};

// Inputs: A (m, k), B (k, n). Output: D (m, n), f32. Tiles must divide the shapes, splits the steps along k.
plgpu::Kernel matmul_split_k(const MatmulSplitK& config);

}  // namespace palladion::kernels
