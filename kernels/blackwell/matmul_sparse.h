#pragma once
// D = A B^T where A has two of each four elements of K: pages/blackwell_matmul_sparse.md.
#include "kernels/blackwell/matmul.h"

namespace palladion::kernels::blackwell {

// A is (m, k / 2), the elements that are stored; B (n, k), D (m, n).
struct SparseConfig {
  int64_t m = 4096, n = 8192, k = 4096;
  pl::DType dtype = pl::f16;      // of A and B: f16, bf16, e4m3, e5m2
  pl::DType out_dtype = pl::f16;  // of D
  int64_t ctas = 2;               // on one product
  int64_t tile_n = 128, tile_k = 128;
  int64_t stages = 3;
  int64_t epilogue_tile_n = 64;

  static constexpr int64_t tile_m = 128;
  int64_t steps() const { return k / tile_k; }
  int64_t pair_n() const { return ctas * tile_n; }
};

plgpu::Kernel matmul_sparse(const SparseConfig& config);
KernelSpec sparse_spec();

}  // namespace palladion::kernels::blackwell
