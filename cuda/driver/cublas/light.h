#pragma once
// The descriptions of cublasLt. Programs keep them in structures of fixed sizes, which are ours to fill.
#include "cuda/driver/cublas/handle.h"
#include "cuda/driver/cublas/matrices.h"

namespace palladion::cuda::cublas::light {

struct Layout {  // cublasLtMatrixLayoutOpaque_t
  Type type{};
  int32_t order = 0;  // by columns; 1: by rows
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
  int32_t batch = 1, batch_mode = 0;  // at equal distances; 1: an array of pointers
  int64_t stride = 0, plane = 0;
  bool by_pointers() const { return batch_mode == 1; }
};
static_assert(sizeof(Layout) <= 8 * 8);

// CUBLASLT_EPILOGUE_*: a sum of these, or one of the gradients.
enum Epilogue : uint32_t {
  plain = 1,
  relu = 2,
  bias = 4,
  relu_gradient = 8,
  bias_gradient = 16,
  gelu = 32,
  gelu_gradient = 64,
  aux = 128,
  gradient_of_a = 256,
  gradient_of_b = 512
};

struct Product {  // cublasLtMatmulDescOpaque_t
  int32_t compute = 0;
  Type scale{};
  int32_t pointer_mode = 0, op_a = 0, op_b = 0, op_c = 0, fill = 2;  // CUBLAS_FILL_MODE_FULL
  uint32_t epilogue = plain;
  void* bias = nullptr;
  int64_t bias_stride = 0;
  void* aux = nullptr;
  int64_t aux_leading = 0, aux_stride = 0, alpha_stride = 0;
  int32_t sm_count = 0;
  int8_t fast = 0;
  void *scale_a = nullptr, *scale_b = nullptr, *scale_c = nullptr, *scale_d = nullptr, *largest_d = nullptr;
  int32_t aux_type = -1, bias_type = -1;  // the product's own
  void *aux_scale = nullptr, *aux_largest = nullptr;
  int32_t modes[5] = {};  // of the scales of A, B, C, D and aux: one number
  int32_t out_mode = 0;
  void *out_scale = nullptr, *emulation = nullptr;
};
static_assert(sizeof(Product) <= 32 * 8);

struct Transform {  // cublasLtMatrixTransformDescOpaque_t
  Type scale{};
  int32_t pointer_mode = 0, op_a = 0, op_b = 0;
};
static_assert(sizeof(Transform) <= 8 * 8);

struct Preference {  // cublasLtMatmulPreferenceOpaque_t
  uint64_t workspace = 0, implementations = ~uint64_t{0};
  int32_t search = 0;
  uint32_t reductions = 7, alignments[4] = {256, 256, 256, 256};
  float waves = 0;
};
static_assert(sizeof(Preference) <= 8 * 8);

}  // namespace palladion::cuda::cublas::light
