#pragma once
// out = a + b, one tile a CTA: the smallest whole kernel.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct VectorAdd {
  int64_t n = 1 << 20;
  pl::DType dtype = pl::f32;
  int64_t tile = 1024;  // elements a CTA; must divide n
};

// Inputs: a (n), b (n). Output: (n).
plgpu::Kernel vector_add(const VectorAdd& config);

}  // namespace palladion::kernels
