#pragma once
// D = A B on Hopper where A has integers of 8 bits and B floating point of 16: pages/matmul_mixed.md.
#include "frontend/plgpu.h"
#include "kernels/frame/spec.h"

namespace palladion::kernels {

// A is s8 (m, k), B (k, n), D (m, n).
struct MatmulMixed {
  int64_t m = 4096, n = 4096, k = 4096;
  pl::DType dtype = pl::bf16;  // of B and D: bf16, f16
  int64_t tile_n = 256;        // of a CTA, a multiple of 64; two warpgroups have 64 rows each
  int64_t stages = 4;
  int64_t sm_count = isa::default_arch().sm_count;  // CTAs of the persistent grid
};

// Throws isa::Error (PLD5001) for sizes that tiles do not divide.
plgpu::Kernel matmul_mixed(const MatmulMixed& config);
KernelSpec matmul_mixed_spec();

}  // namespace palladion::kernels
