#pragma once
// D = A B (+ C), with an epilogue: persistent, warp-specialised, for Hopper. One warpgroup fetches tiles with
// TMA, two multiply them with wgmma and store the result through shared memory.
#include <source_location>
#include <string>

#include "frontend/plgpu.h"

namespace palladion::kernels {

struct MatmulWs {
  int64_t m = 4096, n = 4096, k = 4096;
  pl::DType dtype = pl::f16;      // of A and B: f16, bf16, e4m3, e5m2, s8
  pl::DType out_dtype = pl::f16;  // of C and D: f16, bf16; s32 for s8; 8 bits when quantised
  int64_t tile_m = 256;           // of a CTA: each of two warpgroups takes half the rows
  int64_t tile_n = 128;
  int64_t tile_k = 64;  // 128 for 8-bit types
  int64_t stages = 4;
  int64_t epilogue_n = 64;   // columns stored at a time
  std::string cluster_axis;  // "m", "n" or empty: two CTAs share B, share A, or nothing
  int64_t grid_width = 8;    // tiles of n per band of the snake
  int64_t sm_count = isa::default_arch().sm_count;  // CTAs of the persistent grid
  bool add_c = false;
  // The epilogue, in this order; what is left out costs nothing. alpha, beta and scale are given at launch.
  bool scaled = false;              // D = alpha A B + beta C; s8 products become f32
  float alpha = 1, beta = 1;        // with `scaled`; beta with add_c
  bool bias = false;                // a row (n) of f32 is added
  std::string activation = "none";  // of kernels/frame/activations.h
  bool quantised = false;           // times `scale`, into out_dtype of 8 bits: e4m3, e5m2, s8
  float scale = 1;
  bool profile = false;  // scopes: each role's prologue, main loop, epilogue

  bool eight_bit() const { return pl::bits(dtype) == 8; }
  // Of C: D's, and f16 where that has 8 bits.
  pl::DType c_dtype() const { return quantised ? pl::f16 : out_dtype; }
  pl::DType acc_dtype() const { return dtype == pl::s8 ? pl::s32 : pl::f32; }
};

// Inputs: A (m, k); B (k, n), for 8-bit types (n, k); C (m, n) and the bias (n) in f32 when asked for.
// Output: D (m, n). Errors: shapes that the tiles do not divide, too much shared memory, dtypes that wgmma
// does not take.
plgpu::Kernel matmul_ws(const MatmulWs& config);

}  // namespace palladion::kernels
