#pragma once
// D = A B on Blackwell in eight kernels, each a small step from the one before: pages/blackwell_matmul.md.
#include "frontend/plgpu.h"
#include "kernels/hopper/matmul.h"

namespace palladion::kernels::blackwell {

// A is (m, k), B (k, n), D (m, n). Tiles are those of one CTA; a pair of CTAs has twice as many rows and
// columns.
struct MatmulConfig {
  int64_t m = 4096, n = 8192, k = 4096;
  pl::DType dtype = pl::f16;      // of A and B: f16, bf16; e4m3, e5m2; s8, u8
  pl::DType out_dtype = pl::f16;  // of D: f16, bf16, f32; s32 of integers
  int64_t tile_m = 128, tile_n = 128, tile_k = 64;
  int64_t stages = 4;                     // tiles of A and B on their way
  int64_t epilogue_tile_n = 64;           // columns that leave together
  int64_t clusters = 74;                  // of the persistent grid
  int64_t minor_dim = 0, tile_width = 8;  // planar_snake: the dimension that changes first, and how far

  int64_t steps() const { return k / tile_k; }
  pl::DType acc_dtype() const { return pl::is_integer(dtype) ? pl::s32 : pl::f32; }
};

// What a kernel's body works on; which of it exists depends on the kernel.
struct Operands {
  Ref a, b, out, a_smem, b_smem, acc, out_smem;
  BarrierRef loaded, consumed, done, stored;
};

plgpu::Kernel matmul_basic(const MatmulConfig& config);
plgpu::Kernel matmul_warp_specialized(const MatmulConfig& config);
plgpu::Kernel matmul_tiled_epilogue(const MatmulConfig& config);
plgpu::Kernel matmul_two_cta(const MatmulConfig& config);
plgpu::Kernel matmul_persistent(const MatmulConfig& config);
plgpu::Kernel matmul_epilogue_warpgroup(const MatmulConfig& config);
plgpu::Kernel matmul_grid_tiling(const MatmulConfig& config);
// The same for elements of 8 bits.
plgpu::Kernel matmul_fp8(const MatmulConfig& config);
plgpu::Kernel matmul_int8(const MatmulConfig& config);
plgpu::Kernel matmul_dynamic(const MatmulConfig& config);

std::vector<KernelSpec> matmul_specs();

// --- what they share
// ----------------------------------------------------------------------------------------

// Tiles must divide the shapes; `ctas` work on one product.
void check(const char* kernel, const MatmulConfig& c, int64_t ctas);

// Types, name and the scratch of all but the first kernel: "a_smem", "b_smem" with a slot a stage, "acc",
// "out_smem" of `out_shape`, "loaded" (the copies of a slot), "consumed" (its product), "done" (a tile's
// products).
plgpu::KernelOptions options_of(const char* kernel, const MatmulConfig& c, pl::Shape acc_shape,
                                pl::Shape out_shape, int64_t ctas);
Operands operands_of(const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s);

// Barriers that tell of the tensor core.
plgpu::BarrierType tensor_barrier(int64_t count, std::source_location loc = std::source_location::current());
// The same, with an arrival of each CTA of a pair.
plgpu::BarrierType pair_barrier(int64_t count, std::source_location loc = std::source_location::current());

// Columns `column` on of the accumulator, `epilogue_tile_n` at a time: to registers, SMEM and `window` of D.
// The copy out of one part runs while the next one is loaded.
void store_tiles(const MatmulConfig& c, const Ref& acc, const Ref& out_smem, const Ref& window);

}  // namespace palladion::kernels::blackwell
