// Step 2: the result leaves in parts, so that loads from tensor memory and copies to GMEM overlap.
#include "kernels/blackwell/warps.h"

namespace palladion::kernels::blackwell {

plgpu::Kernel matmul_tiled_epilogue(const MatmulConfig& c) {
  check("blackwell_matmul_tiled_epilogue", c, 1);
  plgpu::KernelOptions o = options_of("blackwell_matmul_tiled_epilogue", c, {c.tile_m, c.tile_n},
                                      {2, c.tile_m, c.epilogue_tile_n}, 1);
  o.grid = {c.m / c.tile_m, c.n / c.tile_n};
  o.grid_names = {"m", "n"};
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        const Operands x = operands_of(a, b, out, s);
        const auto rows = pl::ds(pl::axis_index("m") * c.tile_m, c.tile_m),
                   columns = pl::ds(pl::axis_index("n") * c.tile_n, c.tile_n);
        multiply_with_warps(c, x, rows, columns);

        plgpu::barrier_wait(x.done);
        store_tiles(c, x.acc, x.out_smem, x.out.at(rows, columns));
        plgpu::wait_smem_to_gmem(0, true);
      },
      o);
}

}  // namespace palladion::kernels::blackwell
