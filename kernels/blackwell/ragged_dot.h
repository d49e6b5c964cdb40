#pragma once
// D = A B[g] on Blackwell, where the rows of A are in groups and each group g has a B of its own:
// pages/blackwell_ragged_dot.md.
#include "kernels/blackwell/matmul.h"

namespace palladion::kernels::blackwell {

// A is (m, k), B (groups, k, n), sizes s32 (groups), D (m, n): rows of A and D belong to the groups in order,
// so many to each. Rows behind the last group stay as they are.
struct RaggedDotConfig {
  int64_t m = 4096, n = 4096, k = 2048, groups = 8;
  pl::DType dtype = pl::f16, out_dtype = pl::f16;
  int64_t tile_m = 128, tile_n = 128, tile_k = 64, stages = 4, epilogue_tile_n = 64;
  int64_t clusters = 74, minor_dim = 0, tile_width = 8;

  MatmulConfig matmul() const;  // of one group's product
};

plgpu::Kernel ragged_dot(const RaggedDotConfig& config);
KernelSpec ragged_dot_spec();

}  // namespace palladion::kernels::blackwell
