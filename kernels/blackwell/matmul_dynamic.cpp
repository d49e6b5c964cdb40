// Step 7: a program a tile, and pairs of CTAs that take over programs which have not started: none is idle
// while tiles are left, however long the others take.
#include "kernels/blackwell/store_warpgroup.h"

namespace palladion::kernels::blackwell {

plgpu::Kernel matmul_dynamic(const MatmulConfig& c) {
  check("blackwell_matmul_dynamic", c, 2);
  const int64_t m_tiles = c.m / (2 * c.tile_m), n_tiles = c.n / (2 * c.tile_n);
  plgpu::KernelOptions o = two_warpgroups("blackwell_matmul_dynamic", c);
  o.grid = {m_tiles * n_tiles};
  o.grid_names = {"tile"};
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        Operands x = operands_of(a, b, out, s);
        x.stored = s.barrier("stored");
        plgpu::dynamic_scheduling_loop(
            {"tile"}, {.thread_axis = "wg", .cluster_axes = {"cluster"}}, [&](const plgpu::NDLoopInfo& loop) {
              const auto [mi, ni] = plgpu::planar_snake(loop.index[0], {m_tiles, n_tiles},
                                                        static_cast<int>(c.minor_dim), c.tile_width);
              compute_and_store(c, x, PairTile(c, mi, ni), loop.local_index);
            });
        plgpu::wait_smem_to_gmem(0, true);
      },
      o);
}

}  // namespace palladion::kernels::blackwell
