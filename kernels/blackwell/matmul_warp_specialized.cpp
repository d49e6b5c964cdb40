// Step 1: one warp fetches, another issues the products; both run ahead of what they wait for.
#include "kernels/blackwell/warps.h"

namespace palladion::kernels::blackwell {

plgpu::Kernel matmul_warp_specialized(const MatmulConfig& c) {
  check("blackwell_matmul_warp_specialized", c, 1);
  plgpu::KernelOptions o =
      options_of("blackwell_matmul_warp_specialized", c, {c.tile_m, c.tile_n}, {c.tile_m, c.tile_n}, 1);
  o.grid = {c.m / c.tile_m, c.n / c.tile_n};
  o.grid_names = {"m", "n"};
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        const Operands x = operands_of(a, b, out, s);
        const auto rows = pl::ds(pl::axis_index("m") * c.tile_m, c.tile_m),
                   columns = pl::ds(pl::axis_index("n") * c.tile_n, c.tile_n);
        multiply_with_warps(c, x, rows, columns);

        plgpu::barrier_wait(x.done);
        x.out_smem.store(plgpu::async_load_tmem(x.acc).astype(c.out_dtype));
        plgpu::commit_smem();
        plgpu::copy_smem_to_gmem(x.out_smem, x.out.at(rows, columns));
        plgpu::wait_smem_to_gmem(0, true);
      },
      o);
}

}  // namespace palladion::kernels::blackwell
