#pragma once
// Rows sorted, and the largest elements of each row: a warpgroup a row, which stays in registers.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct SortRows {
  int64_t m = 1024, n = 1024;  // n: at most 2048
  pl::DType dtype = pl::f32;   // f32, f16, bf16, s32
  bool descending = false;
};
// Input: x (m, n). Output: each row in order, NaN behind all numbers (descending: in front).
plgpu::Kernel sort_rows(const SortRows& config);

struct TopK {
  int64_t m = 1024, n = 1024;  // n: at most 2048
  int64_t k = 8;               // at most n
  pl::DType dtype = pl::f32;   // f32, f16, bf16, s32
};
// Input: x (m, n). Outputs: the k largest of each row, the largest first (m, k), and their s32 numbers in the
// row (m, k); of equal ones the first. NaN is larger than all numbers.
plgpu::Kernel top_k(const TopK& config);

}  // namespace palladion::kernels
