#pragma once
// A product of matrices, C = alpha op(A) op(B) + beta C, or a batch of them.
#include "cuda/driver/cublas/handle.h"
#include "cuda/driver/cublas/matrices.h"

namespace palladion::cuda::cublas {

struct Operand {
  const void* at = nullptr;
  Type type{};
  int64_t leading = 0, stride = 0;  // elements from column to column, from matrix to matrix
  int op = 0;                       // cublasOperation_t: as it is, transposed, conjugate transposed
};
struct Gemm {
  const char* name = "";
  int64_t m = 0, n = 0, k = 0, batch = 1;
  Operand a, b, c;
  const void *alpha = nullptr, *beta = nullptr;
  Type scalar{};  // of alpha and beta, and of what is summed: f32, f64, c32, c64, i32; f16: summed as f32
  bool by_pointers = false;  // the operands are arrays of addresses
};

Status run(const Handle* handle, Gemm g);
// Sums as this cublasComputeType_t says; types that are not here are named.
Status run_ex(const Handle* handle, Gemm g, int compute);

}  // namespace palladion::cuda::cublas
