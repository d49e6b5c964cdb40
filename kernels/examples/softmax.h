#pragma once
// The softmax of each row, one warpgroup a row: the row stays in registers from its load to its store.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct Softmax {
  int64_t m = 4096, n = 4096;  // n: at most 8192
  pl::DType dtype = pl::f32;   // f32, f16, bf16; computed in f32
  int64_t rows = 1;            // warpgroups of a CTA, each with a row of its own; divides m
  bool profile = false;        // scopes: load, normalise, store
};

// Input: x (m, n). Output: (m, n), rows of sum 1.
plgpu::Kernel softmax(const Softmax& config);

}  // namespace palladion::kernels
