#include "kernels/blackwell/one_tile.h"

#include "kernels/frame/helpers.h"

namespace palladion::kernels::blackwell {

void launch_tiles(const OneTile& t, plgpu::KernelOptions& options) {
  if (t.pair()) {
    options.cluster = {2};
    options.cluster_names = {"cluster"};
  }
  options.grid = {t.m / (t.ctas * t.tile_m), t.n / t.columns()};
  options.grid_names = {"m", "n"};
}

void compute_tile(const OneTile& t, plgpu::Scratch& s, const Ref& out, const Scalar& mi, const Scalar& ni,
                  const std::function<void()>& fetch, const std::function<void()>& multiply) {
  const Scalar place = t.pair() ? pl::axis_index("cluster") : Scalar(0);
  plgpu::warp_map([&](const Scalar& warp) {
    pl::when(warp == 0, fetch);
    pl::when(t.pair() ? warp == 1 && place == 0 : warp == 1, multiply);
  });

  plgpu::barrier_wait(s.barrier("done"));
  const auto rows = ds((mi * t.ctas + place) * t.tile_m, t.tile_m),
             columns = ds(ni * t.columns(), t.columns());
  store_tiles({.out_dtype = t.out_dtype, .epilogue_tile_n = t.epilogue_tile_n}, s["acc"], s["out_smem"],
              out.at(rows, columns));
  plgpu::wait_smem_to_gmem(0, true);
}

}  // namespace palladion::kernels::blackwell
