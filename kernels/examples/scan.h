#pragma once
// Running sums along each row. A row may be shared among CTAs: each adds up its part, and begins with the sum
// of those before it.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct Scan {
  int64_t m = 4096, n = 4096;  // rows, and elements of each
  pl::DType dtype = pl::f32;   // f32, s32
  int64_t tile = 2048;         // elements in registers at a time: 128 times a power of two, at most 8192
  int64_t parts = 1;           // CTAs of a row
};

// Input: x (m, n). Output: (m, n), element j of a row is the sum of x's elements 0 to j.
plgpu::Kernel scan(const Scan& config);

}  // namespace palladion::kernels
