#pragma once
// out[i] = i: the index of the program, written by that program.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct Iota {
  int64_t n = 1 << 20;
  pl::DType dtype = pl::s32;
  int64_t tile = 1024;  // elements a CTA: 1, or a multiple of 128; must divide n
};

// Output: (n).
plgpu::Kernel iota(const Iota& config);

}  // namespace palladion::kernels
