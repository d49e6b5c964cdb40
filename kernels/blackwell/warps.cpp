#include "kernels/blackwell/warps.h"

namespace palladion::kernels::blackwell {
namespace {

constexpr const char* cluster = "cluster";

// Of a pair each CTA fetches half of the rows of A and of the columns of B; the first one's barrier expects
// of both.
plgpu::CopyInOptions partitioned(bool pair, int axis) {
  if (!pair) return {};
  return {.collective_axes = {cluster}, .leader_tracked = plgpu::CopyPartition::PARTITIONED(axis)};
}

void fetch(const MatmulConfig& c, const Operands& x, const pl::Slice& rows, const pl::Slice& columns,
           const TileOptions& options) {
  pl::fori_loop(0, c.steps(), [&](pl::Index step) {
    const Scalar slot = step % c.stages;
    pl::when(step >= c.stages || !options.first_tile, [&] { plgpu::barrier_wait(x.consumed.at(slot)); });
    const auto depth = ds(step * c.tile_k, c.tile_k);
    plgpu::copy_gmem_to_smem(x.a.at(rows, depth), x.a_smem.at(slot), x.loaded.at(slot),
                             partitioned(options.pair, 0));
    plgpu::copy_gmem_to_smem(x.b.at(depth, columns), x.b_smem.at(slot), x.loaded.at(slot),
                             partitioned(options.pair, 1));
  });
}

void multiply(const MatmulConfig& c, const Operands& x, const TileOptions& options) {
  const std::string axis = options.pair ? cluster : "";
  pl::fori_loop(0, c.steps(), [&](pl::Index step) {
    const Scalar slot = step % c.stages;
    plgpu::barrier_wait(x.loaded.at(slot));
    plgpu::tcgen05_mma(x.acc, x.a_smem.at(slot), x.b_smem.at(slot), x.consumed.at(slot),
                       {.accumulate = step > 0, .collective_axis = axis});
  });
  plgpu::tcgen05_commit_arrive(x.done, {.collective_axis = axis});
}

}  // namespace

PairTile::PairTile(const MatmulConfig& c, const Scalar& mi, const Scalar& ni)
    : rows(ds(mi * (2 * c.tile_m), 2 * c.tile_m)),
      columns(ds(ni * (2 * c.tile_n), 2 * c.tile_n)),
      own_rows(ds((mi * 2 + pl::axis_index(cluster)) * c.tile_m, c.tile_m)) {}

void multiply_with_warps(const MatmulConfig& c, const Operands& x, const pl::Slice& rows,
                         const pl::Slice& columns, const TileOptions& options) {
  plgpu::warp_map([&](const Scalar& warp) {
    pl::when(warp == 0, [&] {
      if (options.pair) pl::when(pl::axis_index(cluster) == 1, options.wait_for_accumulator);
      fetch(c, x, rows, columns, options);
    });
    if (!options.pair) return pl::when(warp == 1, [&] { multiply(c, x, options); });
    pl::when(warp == 1 && pl::axis_index(cluster) == 0, [&] {
      options.wait_for_accumulator();
      multiply(c, x, options);
    });
  });
}

}  // namespace palladion::kernels::blackwell
