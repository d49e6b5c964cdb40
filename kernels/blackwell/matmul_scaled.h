#pragma once
// D = A B^T with scales of blocks of K: pages/blackwell_matmul_scaled.md.
#include "kernels/blackwell/matmul.h"

namespace palladion::kernels::blackwell {

// A is (m, k), B (n, k), D (m, n); a scale for each `block` elements of a row of A or B. A CTA works on
// tile_m rows and tile_n columns; a pair of CTAs on twice as many.
struct ScaledConfig {
  int64_t m = 4096, n = 8192, k = 4096;
  pl::DType a_dtype = pl::e4m3, b_dtype = pl::e4m3, scale_dtype = pl::ue8m0;
  pl::DType out_dtype = pl::bf16;
  int64_t block = 32;
  int64_t ctas = 2;  // on one product
  int64_t tile_m = 128, tile_n = 128, tile_k = 128;
  int64_t stages = 4;
  int64_t epilogue_tile_n = 64;

  int64_t steps() const { return k / tile_k; }
  int64_t blocks() const { return tile_k / block; }  // of K in a step
  int64_t pair_n() const { return ctas * tile_n; }
};

plgpu::Kernel matmul_scaled(const char* name, const ScaledConfig& config);

std::vector<KernelSpec> scaled_specs();

}  // namespace palladion::kernels::blackwell
