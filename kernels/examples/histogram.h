#pragma once
// How often each bin occurs: atomic additions into a histogram of each CTA in shared memory, then one
// addition a bin and CTA into global memory.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct Histogram {
  int64_t n = 1 << 24;
  pl::DType dtype = pl::u32;  // of the values: u32 (the highest bits are the bin) or f32 (in [0, 1])
  int64_t bins = 256;         // a power of two, 128 to 8192
  int64_t tile = 2048;        // elements a CTA loads at a time: a multiple of 128 that divides n
  int64_t ctas = 4 * isa::default_arch().sm_count;  // of the persistent grid
};

// Inputs: x (n), start (bins), s32. Output: (bins), s32: start and the counts.
plgpu::Kernel histogram(const Histogram& config);

}  // namespace palladion::kernels
