#pragma once
// A small warp-specialised matrix product, as an author would write it: used by several tests.
#include "frontend/plgpu.h"

namespace palladion::test {

struct MatmulShape {
  int64_t m = 256, n = 512, k = 256;
  int64_t tile_m = 64, tile_n = 128, tile_k = 64;  // of one consumer, of the CTA, of a step
  int64_t stages = 3, consumers = 2, sms = 4;
  int64_t cluster = 1;
};

inline plgpu::Kernel ws_matmul(const MatmulShape& s, pl::DType dtype = pl::f16) {
  const int64_t cta_m = s.tile_m * s.consumers;
  const plgpu::AllocationOptions tiled{
      .transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  const int64_t steps = s.k / s.tile_k;
  const int64_t tiles_m = s.m / cta_m / s.cluster, tiles = tiles_m * (s.n / s.tile_n);
  const int64_t clusters = s.sms / s.cluster;
  plgpu::KernelOptions options{
      .in_types = {{dtype, {s.m, s.k}}, {dtype, {s.k, s.n}}},
      .out_type = {dtype, {s.m, s.n}},
      .scratch_types = {{"a", plgpu::SMEM({s.stages, cta_m, s.tile_k}, dtype, tiled)},
                        {"b", plgpu::SMEM({s.stages, s.tile_k, s.tile_n}, dtype, tiled)},
                        {"out", plgpu::SMEM({s.consumers, s.tile_m, s.tile_n}, dtype, tiled)},
                        {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {s.stages}})}},
      .compiler_params = {.unsafe_no_auto_barriers = true},
      .grid = {clusters},
      .grid_names = {"sm"},
      .num_threads = static_cast<int>(s.consumers + 1),
      .thread_name = "wg",
      .name = "ws_matmul"};
  if (s.cluster > 1) {
    options.cluster = {s.cluster};
    options.cluster_names = {"c"};
    options.scratch_types.push_back(
        {"empty", plgpu::ClusterBarrier(
                      {.collective_axes = {"c"}, .num_barriers = {s.stages}, .num_arrivals = s.consumers})});
  } else {
    options.scratch_types.push_back(
        {"empty", plgpu::Barrier({.num_arrivals = s.consumers, .num_barriers = {s.stages}})});
  }
  return plgpu::kernel(
      [=](plgpu::Ref a, plgpu::Ref b, plgpu::Ref out, plgpu::Scratch& scratch) {
        const pl::Index wg = pl::axis_index("wg"), sm = pl::axis_index("sm");
        const pl::Index in_cluster = s.cluster > 1 ? pl::axis_index("c") : pl::Index(0);
        const auto& a_smem = scratch["a"];
        const auto& b_smem = scratch["b"];
        const auto& out_smem = scratch["out"];
        const auto& full = scratch.barrier("full");
        const auto& empty = scratch.barrier("empty");
        const pl::Index my_tiles = (pl::Index(tiles) - sm + (clusters - 1)) / clusters;
        const auto place = [&](const pl::Index& i) {
          const pl::Index tile = sm + i * clusters;
          const pl::Index m = (tile % tiles_m) * s.cluster + in_cluster;
          return std::pair{m * cta_m, tile / tiles_m * s.tile_n};
        };
        pl::when(wg == s.consumers, [&] {
          plgpu::set_max_registers(40, "decrease");
          pl::fori_loop(
              0, my_tiles,
              [&](pl::Index i, pl::Index step) {
                const auto [m, n] = place(i);
                return pl::fori_loop(
                    0, steps,
                    [&](pl::Index k, pl::Index t) {
                      const pl::Index slot = t % s.stages;
                      pl::when(t >= s.stages, [&] { plgpu::barrier_wait(empty.at(slot)); });
                      plgpu::copy_gmem_to_smem(a.at(pl::ds(m, cta_m), pl::ds(k * s.tile_k, s.tile_k)),
                                               a_smem.at(slot), full.at(slot));
                      plgpu::copy_gmem_to_smem(
                          b.at(pl::ds(k * s.tile_k, s.tile_k), pl::ds(n, s.tile_n)), b_smem.at(slot),
                          full.at(slot),
                          {.collective_axes =
                               s.cluster > 1 ? std::vector<std::string>{"c"} : std::vector<std::string>{}});
                      return t + 1;
                    },
                    step);
              },
              pl::Index(0));
        });
        pl::when(wg < s.consumers, [&] {
          plgpu::set_max_registers(232, "increase");
          pl::fori_loop(
              0, my_tiles,
              [&](pl::Index i, pl::Index step) {
                const auto [m, n] = place(i);
                const plgpu::Ref mine = out_smem.at(wg);
                pl::run_scoped(
                    [&](plgpu::Ref acc) {
                      pl::fori_loop(0, steps, [&](pl::Index k) {
                        const pl::Index t = step + k, slot = t % s.stages;
                        plgpu::barrier_wait(full.at(slot));
                        plgpu::wgmma(acc, a_smem.at(slot, pl::ds(wg * s.tile_m, s.tile_m)), b_smem.at(slot));
                        pl::when(k > 0, [&] { plgpu::barrier_arrive(empty.at((t - 1) % s.stages)); });
                      });
                      const plgpu::Array result = acc.load();
                      plgpu::barrier_arrive(empty.at((step + steps - 1) % s.stages));
                      plgpu::wait_smem_to_gmem(0, true);
                      mine.store(result.astype(dtype));
                      plgpu::commit_smem();
                      plgpu::copy_smem_to_gmem(
                          mine, out.at(pl::ds(m + wg * s.tile_m, s.tile_m), pl::ds(n, s.tile_n)));
                    },
                    plgpu::ACC({s.tile_m, s.tile_n}, pl::f32));
                return step + steps;
              },
              pl::Index(0));
          plgpu::wait_smem_to_gmem(0);
        });
      },
      options);
}

}  // namespace palladion::test
