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

inline plgpu::KernelOptions ws_matmul_options(const MatmulShape& s, pl::DType dtype) {
  const int64_t cta_m = s.tile_m * s.consumers;
  const plgpu::AllocationOptions tiled{
      .transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  plgpu::KernelOptions options{
      .in_types = {{dtype, {s.m, s.k}}, {dtype, {s.k, s.n}}},
      .out_type = {dtype, {s.m, s.n}},
      .scratch_types = {{"a", plgpu::SMEM({s.stages, cta_m, s.tile_k}, dtype, tiled)},
                        {"b", plgpu::SMEM({s.stages, s.tile_k, s.tile_n}, dtype, tiled)},
                        {"out", plgpu::SMEM({s.consumers, s.tile_m, s.tile_n}, dtype, tiled)},
                        {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {s.stages}})}},
      .compiler_params = {.unsafe_no_auto_barriers = true},
      .grid = {s.sms / s.cluster},
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
  return options;
}

// What one thread does.
struct ThreadOfWsMatmul {
  const MatmulShape& s;
  pl::DType dtype;
  plgpu::Ref a, b, out;
  plgpu::Scratch& scratch;
  int64_t cta_m = s.tile_m * s.consumers, steps = s.k / s.tile_k, clusters = s.sms / s.cluster;
  int64_t tiles_m = s.m / cta_m / s.cluster, tiles = tiles_m * (s.n / s.tile_n);
  pl::Index wg = pl::axis_index("wg"), sm = pl::axis_index("sm");
  pl::Index in_cluster = s.cluster > 1 ? pl::axis_index("c") : pl::Index(0);
  pl::Index my_tiles = (pl::Index(tiles) - sm + (clusters - 1)) / clusters;

  // Row and column of the i-th tile.
  std::pair<pl::Index, pl::Index> place(const pl::Index& i) const {
    const pl::Index tile = sm + i * clusters;
    const pl::Index m = (tile % tiles_m) * s.cluster + in_cluster;
    return {m * cta_m, tile / tiles_m * s.tile_n};
  }

  void fetch(const pl::Index& m, const pl::Index& n, const pl::Index& k, const pl::Index& t) const {
    const auto& full = scratch.barrier("full");
    const pl::Index slot = t % s.stages;
    pl::when(t >= s.stages, [&] { plgpu::barrier_wait(scratch.barrier("empty").at(slot)); });
    plgpu::copy_gmem_to_smem(a.at(pl::ds(m, cta_m), pl::ds(k * s.tile_k, s.tile_k)), scratch["a"].at(slot),
                             full.at(slot));
    const std::vector<std::string> axes =
        s.cluster > 1 ? std::vector<std::string>{"c"} : std::vector<std::string>{};
    plgpu::copy_gmem_to_smem(b.at(pl::ds(k * s.tile_k, s.tile_k), pl::ds(n, s.tile_n)), scratch["b"].at(slot),
                             full.at(slot), {.collective_axes = axes});
  }

  void produce() const {
    plgpu::set_max_registers(40, "decrease");
    pl::fori_loop(
        0, my_tiles,
        [&](pl::Index i, pl::Index step) {
          const auto [m, n] = place(i);
          return pl::fori_loop(
              0, steps,
              [&, m = m, n = n](pl::Index k, pl::Index t) {
                fetch(m, n, k, t);
                return t + 1;
              },
              step);
        },
        pl::Index(0));
  }

  // The tile whose first step is `step`.
  void multiply(const pl::Index& m, const pl::Index& n, const pl::Index& step) const {
    const auto &full = scratch.barrier("full"), &empty = scratch.barrier("empty");
    const plgpu::Ref mine = scratch["out"].at(wg);
    pl::run_scoped(
        [&](plgpu::Ref acc) {
          pl::fori_loop(0, steps, [&](pl::Index k) {
            const pl::Index t = step + k, slot = t % s.stages;
            plgpu::barrier_wait(full.at(slot));
            plgpu::wgmma(acc, scratch["a"].at(slot, pl::ds(wg * s.tile_m, s.tile_m)), scratch["b"].at(slot));
            pl::when(k > 0, [&] { plgpu::barrier_arrive(empty.at((t - 1) % s.stages)); });
          });
          const plgpu::Array result = acc.load();
          plgpu::barrier_arrive(empty.at((step + steps - 1) % s.stages));
          plgpu::wait_smem_to_gmem(0, true);
          mine.store(result.astype(dtype));
          plgpu::commit_smem();
          plgpu::copy_smem_to_gmem(mine, out.at(pl::ds(m + wg * s.tile_m, s.tile_m), pl::ds(n, s.tile_n)));
        },
        plgpu::ACC({s.tile_m, s.tile_n}, pl::f32));
  }

  void consume() const {
    plgpu::set_max_registers(232, "increase");
    pl::fori_loop(
        0, my_tiles,
        [&](pl::Index i, pl::Index step) {
          const auto [m, n] = place(i);
          multiply(m, n, step);
          return step + steps;
        },
        pl::Index(0));
    plgpu::wait_smem_to_gmem(0);
  }
};

inline plgpu::Kernel ws_matmul(const MatmulShape& s, pl::DType dtype = pl::f16) {
  return plgpu::kernel(
      [=](plgpu::Ref a, plgpu::Ref b, plgpu::Ref out, plgpu::Scratch& scratch) {
        const ThreadOfWsMatmul thread{.s = s, .dtype = dtype, .a = a, .b = b, .out = out, .scratch = scratch};
        pl::when(thread.wg == s.consumers, [&] { thread.produce(); });
        pl::when(thread.wg < s.consumers, [&] { thread.consume(); });
      },
      ws_matmul_options(s, dtype));
}

}  // namespace palladion::test
