#pragma once
// D = A B on Hopper of 8-bit floating point with scales of blocks, summed in f32:
// pages/matmul_block_scaled.md.
#include "frontend/plgpu.h"
#include "kernels/frame/spec.h"

namespace palladion::kernels {

// A is (m, k), B (n, k), D (m, n). A has a scale for each row and each 128 of k, B for each block of 128 rows
// and 128 of k: f32 (k blocks, m), so that rows of a tile are neighbours, and (n blocks, k blocks).
struct MatmulBlockScaled {
  int64_t m = 4096, n = 4096, k = 4096;
  pl::DType dtype = pl::e4m3;      // of A and B: e4m3, e5m2
  pl::DType out_dtype = pl::bf16;  // of D: bf16, f16
  int64_t stages = 5;
  int64_t sm_count = isa::default_arch().sm_count;  // CTAs of the persistent grid

  static constexpr int64_t block = 128;  // of k and of B's rows
  int64_t k_blocks() const { return pl::cdiv(k, block); }
  pl::ShapeDtype a_scales() const { return {pl::f32, {k_blocks(), m}}; }
  pl::ShapeDtype b_scales() const { return {pl::f32, {pl::cdiv(n, block), k_blocks()}}; }
};

// Throws isa::Error (PLD5001) for sizes that tiles do not divide, and rows that TMA does not take.
plgpu::Kernel matmul_block_scaled(const MatmulBlockScaled& config);
KernelSpec matmul_block_scaled_spec();

}  // namespace palladion::kernels
