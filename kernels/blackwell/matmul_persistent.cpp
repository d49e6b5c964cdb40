// Step 4: as many pairs of CTAs as the chip has room for, each computes tile after tile.
#include "kernels/blackwell/warps.h"

namespace palladion::kernels::blackwell {

plgpu::Kernel matmul_persistent(const MatmulConfig& c) {
  check("blackwell_matmul_persistent", c, 2);
  const int64_t pair_m = 2 * c.tile_m, pair_n = 2 * c.tile_n;
  plgpu::KernelOptions o =
      options_of("blackwell_matmul_persistent", c, {c.tile_m, pair_n}, {2, c.tile_m, c.epilogue_tile_n}, 2);
  o.scratch_types.push_back({"stored", pair_barrier(1)});
  o.grid = {c.clusters};
  o.grid_names = {"pair"};
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        const Operands x = operands_of(a, b, out, s);
        const BarrierRef& stored = s.barrier("stored");
        plgpu::nd_loop(
            {c.m / pair_m, c.n / pair_n}, {.collective_axes = {"pair"}}, [&](const plgpu::NDLoopInfo& loop) {
              const PairTile tile(c, loop.index[0], loop.index[1]);
              TileOptions options{.pair = true, .first_tile = loop.local_index == 0};
              options.wait_for_accumulator = [&] {
                pl::when(loop.local_index > 0, [&] { plgpu::barrier_wait(stored); });
              };
              multiply_with_warps(c, x, tile.rows, tile.columns, options);

              plgpu::barrier_wait(x.done);
              store_tiles(c, x.acc, x.out_smem, x.out.at(tile.own_rows, tile.columns));
              plgpu::wait_load_tmem();  // the next tile's products overwrite the accumulators of both CTAs
              plgpu::barrier_arrive(stored);
            });
        plgpu::wait_smem_to_gmem(0, true);
      },
      o);
}

}  // namespace palladion::kernels::blackwell
