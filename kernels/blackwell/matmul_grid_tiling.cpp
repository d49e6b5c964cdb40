// Step 6: the tiles in an order in which neighbours in time share rows of A or columns of B in L2. The same
// for elements of 8 bits.
#include "kernels/blackwell/store_warpgroup.h"

namespace palladion::kernels::blackwell {
namespace {

plgpu::Kernel grid_tiling(const char* name, const MatmulConfig& c) {
  check(name, c, 2);
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
      two_warpgroups(name, c));
}

}  // namespace

plgpu::Kernel matmul_grid_tiling(const MatmulConfig& c) {
  return grid_tiling("blackwell_matmul_grid_tiling", c);
}
plgpu::Kernel matmul_fp8(const MatmulConfig& c) { return grid_tiling("blackwell_matmul_fp8", c); }
plgpu::Kernel matmul_int8(const MatmulConfig& c) { return grid_tiling("blackwell_matmul_int8", c); }

}  // namespace palladion::kernels::blackwell
