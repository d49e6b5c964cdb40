#pragma once
// D = A B[g] on Hopper, where the rows of A are in groups and each group g has a B of its own:
// pages/ragged_dot.md.
#include "frontend/plgpu.h"
#include "kernels/frame/spec.h"

namespace palladion::kernels {

// A is (m, k), B (groups, k, n), sizes s32 (groups), D (m, n): rows of A and D belong to the groups in order,
// so many to each. Rows behind the last group stay as they are.
struct RaggedDot {
  int64_t m = 4096, n = 4096, k = 4096, groups = 8;
  pl::DType dtype = pl::f16;      // of A and B: f16, bf16
  pl::DType out_dtype = pl::f16;  // of D: f16, bf16, f32
  int64_t tile_m = 128;           // of a CTA: each of two warpgroups takes half the rows
  int64_t tile_n = 256;           // a multiple of 64
  int64_t stages = 4;
  int64_t sm_count = isa::default_arch().sm_count;  // CTAs of the persistent grid
};

// Throws isa::Error (PLD5001) for rows of A, B or D that are no multiples of 16 bytes, and tiles of other
// sizes.
plgpu::Kernel ragged_dot(const RaggedDot& config);
KernelSpec ragged_dot_spec();

}  // namespace palladion::kernels
