#include "kernels/blackwell/store_warpgroup.h"

namespace palladion::kernels::blackwell {

plgpu::KernelOptions two_warpgroups(const char* kernel, const MatmulConfig& c) {
  plgpu::KernelOptions o =
      options_of(kernel, c, {c.tile_m, 4 * c.tile_n}, {2, c.tile_m, c.epilogue_tile_n}, 2);
  o.scratch_types.pop_back();
  o.scratch_types.push_back({"done", tensor_barrier(2)});
  o.scratch_types.push_back({"stored", pair_barrier(2)});
  o.grid = {c.clusters};
  o.grid_names = {"pair"};
  o.num_threads = 2;
  o.thread_name = "wg";
  return o;
}

void compute_and_store(const MatmulConfig& c, const Operands& all, const PairTile& tile,
                       const Scalar& local_index, const std::function<void(const Operands& x)>& store) {
  const Scalar slot = local_index % 2;
  Operands x = all;
  x.acc = all.acc.at(pl::all, ds(slot * (2 * c.tile_n), 2 * c.tile_n));
  x.done = all.done.at(slot);
  pl::when(pl::axis_index("wg") == 0, [&] {
    TileOptions options{.pair = true, .first_tile = local_index == 0};
    options.wait_for_accumulator = [&] {
      pl::when(local_index >= 2, [&] { plgpu::barrier_wait(x.stored.at(slot)); });
    };
    multiply_with_warps(c, x, tile.rows, tile.columns, options);
  });
  pl::when(pl::axis_index("wg") == 1, [&] {
    plgpu::wait_smem_to_gmem(0, true);
    plgpu::barrier_wait(x.done);
    if (store)
      store(x);
    else
      store_tiles(c, x.acc, x.out_smem, x.out.at(tile.own_rows, tile.columns));
    plgpu::wait_load_tmem();
    plgpu::barrier_arrive(x.stored.at(slot));
  });
}

}  // namespace palladion::kernels::blackwell
