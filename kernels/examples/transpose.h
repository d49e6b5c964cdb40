#pragma once
// out = a transposed: TMA in, transposed in shared memory, TMA out.
#include <string>

#include "frontend/plgpu.h"

namespace palladion::kernels {

struct Transpose {
  // The three steps: an unswizzled tile; tiles in TMA's 128-byte swizzle; swizzled, and each thread moves
  // blocks of 2x4 elements with vector instructions, without bank conflicts.
  enum class Variant : uint8_t { plain, swizzled, columns };
  int64_t m = 8192, n = 8192;
  Variant variant = Variant::columns;
  int64_t tile_m = 64, tile_n = 64;  // multiples of 32, at most 256
  int64_t ctas = 0;                  // of a persistent grid; 0: one CTA a tile
  int64_t stages = 1;                // tiles of a CTA in flight
  int64_t band = 8;                  // tiles of n in a band of the snake order
};

// Input: a (m, n) f32. Output: (n, m). m and n must be multiples of 32; tiles may stick out.
plgpu::Kernel transpose(const Transpose& config);

}  // namespace palladion::kernels
