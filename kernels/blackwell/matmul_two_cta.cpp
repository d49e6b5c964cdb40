// Step 3: two CTAs compute one product, each with half of A and of B in its SMEM: twice the arithmetic for
// the bytes that are fetched.
#include "kernels/blackwell/warps.h"

namespace palladion::kernels::blackwell {

plgpu::Kernel matmul_two_cta(const MatmulConfig& c) {
  check("blackwell_matmul_two_cta", c, 2);
  const int64_t pair_m = 2 * c.tile_m, pair_n = 2 * c.tile_n;
  plgpu::KernelOptions o =
      options_of("blackwell_matmul_two_cta", c, {c.tile_m, pair_n}, {2, c.tile_m, c.epilogue_tile_n}, 2);
  o.grid = {c.m / pair_m, c.n / pair_n};
  o.grid_names = {"m", "n"};
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        const Operands x = operands_of(a, b, out, s);
        const PairTile tile(c, pl::axis_index("m"), pl::axis_index("n"));
        multiply_with_warps(c, x, tile.rows, tile.columns, {.pair = true});

        plgpu::barrier_wait(x.done);
        store_tiles(c, x.acc, x.out_smem, x.out.at(tile.own_rows, tile.columns));
        plgpu::wait_smem_to_gmem(0, true);
      },
      o);
}

}  // namespace palladion::kernels::blackwell
