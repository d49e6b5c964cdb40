#include <palladion/program.h>
using namespace palladion::program;

// D is 256 x 256, a step is 64 deep, f16. How many KiB of B does each CTA fetch in a step,
// answer alone: ?  when each CTA multiplies its 128 rows on its own?  //! not solution
// answer alone: 32  //! solution
// answer pair: ?  when the two are a pair?  //! not solution
// answer pair: 16  //! solution

struct Config {
  int64_t k = 512, slots = 3;
};

constexpr int64_t tile_m = 128, tile_n = 128, tile_k = 64;  // of one CTA; the pair has twice as many rows and columns

plgpu::Kernel matmul(const Config& c) {
  const plgpu::AllocationOptions tiled{.transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  const int64_t steps = c.k / tile_k;
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::BarrierRef &full = s.barrier("full"), &consumed = s.barrier("consumed");
        const pl::Scalar rank = pl::axis_index("cta");
        const auto half_of = [](int axis) -> plgpu::CopyInOptions {
          return {.collective_axes = {"cta"}, .leader_tracked = plgpu::CopyPartition::PARTITIONED(axis)};
        };
        plgpu::warp_map([&](const pl::Scalar& warp) {
          pl::when(warp == 0, [&] {  // each CTA fetches its half of the rows of A and of the columns of B
            pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
              const pl::Scalar slot = step % c.slots;
              const auto depth = pl::ds(step * tile_k, tile_k);
              pl::when(step >= c.slots, [&] { plgpu::barrier_wait(consumed.at(slot)); });
              plgpu::copy_gmem_to_smem(a.at(pl::all, depth), s["a"].at(slot), full.at(slot), half_of(0));
              plgpu::copy_gmem_to_smem(b.at(depth, pl::all), s["b"].at(slot), full.at(slot), half_of(1));
            });
          });
          pl::when(warp == 1, [&] {  // TODO  //! starter
          pl::when(warp == 1 && rank == 0, [&] {  // the first CTA issues for both  //! solution cluster-barriers own-commit
          pl::when(warp == 1 && rank == 1, [&] {  //! second-issues
            pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
              const pl::Scalar slot = step % c.slots;
              plgpu::barrier_wait(full.at(slot));
              plgpu::tcgen05_mma(s["acc"], s["a"].at(slot), s["b"].at(slot), consumed.at(slot),
                                 {.accumulate = step > 0, .collective_axis = "cta"});
            });
            plgpu::tcgen05_commit_arrive(s.barrier("done"), {.collective_axis = "cta"});  //! not own-commit
            plgpu::tcgen05_commit_arrive(s.barrier("done"));  //! own-commit
          });
        });
        plgpu::barrier_wait(s.barrier("done"));
        for (int64_t column = 0; column < 2 * tile_n; column += 128) {  // a lane has 255 registers
          const auto part = pl::ds(column, 128);
          d.at(pl::ds(rank * tile_m, tile_m), part).store(plgpu::async_load_tmem(s["acc"].at(pl::all, part)));
        }
      },
      {.in_types = {{pl::f16, {2 * tile_m, c.k}}, {pl::f16, {c.k, 2 * tile_n}}},
       .out_type = {{pl::f32, {2 * tile_m, 2 * tile_n}}},
       .scratch_types = {{"acc", plgpu::TMEM({tile_m, 2 * tile_n}, pl::f32, {.collective = true})},
                         {"a", plgpu::SMEM({c.slots, tile_m, tile_k}, pl::f16, tiled)},
                         {"b", plgpu::SMEM({c.slots, tile_k, tile_n}, pl::f16, tiled)},
                         {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.slots}})},
                         {"consumed", plgpu::Barrier({.num_barriers = {c.slots}, .orders_tensor_core = true})},  //! not cluster-barriers
                         {"consumed", plgpu::ClusterBarrier({.collective_axes = {"cta"}, .num_barriers = {c.slots}, .orders_tensor_core = true})},  //! cluster-barriers
                         {"done", plgpu::Barrier({.orders_tensor_core = true})}},
       .grid = {1},
       .grid_names = {"pair"},
       .cluster = {2},
       .cluster_names = {"cta"},
       .name = "matmul"});
}

PALLADION_KERNELS(Spec("matmul", "d = a b", matmul)
                      .size("k", &Config::k, "depth, a multiple of 64")
                      .setting("slots", &Config::slots, "tiles on their way")
                      .arrays({"a", "b"}, {"d"}));
