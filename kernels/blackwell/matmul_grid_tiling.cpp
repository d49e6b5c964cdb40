// Step 6: the tiles in an order in which neighbours in time share rows of A or columns of B in L2.
#include "kernels/blackwell/store_warpgroup.h"

namespace palladion::kernels::blackwell {

plgpu::Kernel matmul_grid_tiling(const MatmulConfig& c) {
  check("blackwell_matmul_grid_tiling", c, 2);
  const int64_t m_tiles = c.m / (2 * c.tile_m), n_tiles = c.n / (2 * c.tile_n);
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        Operands x = operands_of(a, b, out, s);
        x.stored = s.barrier("stored");
        plgpu::nd_loop({m_tiles * n_tiles}, {.collective_axes = {"pair"}},
                       [&](const plgpu::NDLoopInfo& loop) {
                         const auto [mi, ni] = plgpu::planar_snake(
                             loop.index[0], {m_tiles, n_tiles}, static_cast<int>(c.minor_dim), c.tile_width);
                         compute_and_store(c, x, PairTile(c, mi, ni), loop.local_index);
                       });
        plgpu::wait_smem_to_gmem(0, true);
      },
      two_warpgroups("blackwell_matmul_grid_tiling", c));
}

}  // namespace palladion::kernels::blackwell
