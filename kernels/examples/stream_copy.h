#pragma once
// out = x, f32, at the speed of memory: through registers, or by TMA through a ring of tiles in shared memory
// that no thread reads.
#include "frontend/plgpu.h"

namespace palladion::kernels {

struct StreamCopy {
  enum class Variant : uint8_t { plain, tma };

  int64_t n = 1 << 24;  // elements: a multiple of 256
  Variant variant = Variant::tma;
  int64_t tile = 16;                                // rows of 256 elements, at most 256
  int64_t ctas = 2 * isa::default_arch().sm_count;  // of a persistent grid; 0: one CTA a tile
  int64_t stages = 4;                               // tma: tiles of a CTA in shared memory, at least 2
};

// Input: x (n / 256, 256). Output: the same.
plgpu::Kernel stream_copy(const StreamCopy& config);

}  // namespace palladion::kernels
