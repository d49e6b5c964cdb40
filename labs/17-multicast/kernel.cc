#include <palladion/program.h>
using namespace palladion::program;

// A cluster of 4 CTAs shares a slot of B. Each has 2 consumer warpgroups. With how many arrivals does a phase of `empty`
// complete, counted in warpgroups?
// answer arrivals: ?  //! not solution
// answer arrivals: 8  //! solution

struct Config {
  int64_t m = 128, n = 128, k = 512, slots = 3;
};

constexpr int64_t tile_m = 64, tile_n = 128, tile_k = 64;

plgpu::Kernel matmul(const Config& c) {
  const plgpu::AllocationOptions tiled{.transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  const int64_t steps = c.k / tile_k;
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::BarrierRef &full = s.barrier("full"), &empty = s.barrier("empty");
        const auto rows = pl::ds((pl::axis_index("m") * 2 + pl::axis_index("cta")) * tile_m, tile_m);
        const auto columns = pl::ds(pl::axis_index("n") * tile_n, tile_n);
        pl::when(pl::axis_index("wg") == 1, [&] {  // the producer
          pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
            const pl::Scalar slot = step % c.slots;
            const auto depth = pl::ds(step * tile_k, tile_k);
            pl::when(step >= c.slots, [&] { plgpu::barrier_wait(empty.at(slot)); });
            plgpu::copy_gmem_to_smem(a.at(rows, depth), s["a"].at(slot), full.at(slot));
            plgpu::copy_gmem_to_smem(b.at(depth, columns), s["b"].at(slot), full.at(slot), {.collective_axes = {"cta"}});  //! not no-multicast
            plgpu::copy_gmem_to_smem(b.at(depth, columns), s["b"].at(slot), full.at(slot));  //! no-multicast
          });
        });
        pl::when(pl::axis_index("wg") == 0, [&] {  // the consumer
          const plgpu::Array product = pl::run_scoped(
              [&](const plgpu::Ref& acc) {
                pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
                  const pl::Scalar slot = step % c.slots;
                  plgpu::barrier_wait(full.at(slot));
                  plgpu::wgmma(acc, s["a"].at(slot), s["b"].at(slot));
                  pl::when(step > 0, [&] { plgpu::barrier_arrive(empty.at((step + (c.slots - 1)) % c.slots)); });
                });
                return acc.load();
              },
              plgpu::ACC({tile_m, tile_n}, pl::f32));
          d.at(rows, columns).store(product);
        });
      },
      {.in_types = {{pl::f16, {c.m, c.k}}, {pl::f16, {c.k, c.n}}},
       .out_type = {{pl::f32, {c.m, c.n}}},
       .scratch_types = {{"a", plgpu::SMEM({c.slots, tile_m, tile_k}, pl::f16, tiled)},
                         {"b", plgpu::SMEM({c.slots, tile_k, tile_n}, pl::f16, tiled)},
                         {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.slots}})},
                         {"empty", plgpu::Barrier({.num_barriers = {c.slots}})}},  // TODO  //! starter no-multicast
                         {"empty", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.slots}})}},  //! two-of-own
                         {"empty", plgpu::ClusterBarrier({.collective_axes = {"cta"}, .num_barriers = {c.slots}, .num_arrivals = 2})}},  //! two-each
                         {"empty", plgpu::ClusterBarrier({.collective_axes = {"cta"}, .num_barriers = {c.slots}})}},  //! solution
       .grid = {c.m / (2 * tile_m), c.n / tile_n},
       .grid_names = {"m", "n"},
       .cluster = {2},
       .cluster_names = {"cta"},
       .num_threads = 2,
       .thread_name = "wg",
       .name = "matmul"});
}

PALLADION_KERNELS(Spec("matmul", "d = a b", matmul)
                      .size("m", &Config::m, "rows of a")
                      .size("n", &Config::n, "columns of b")
                      .size("k", &Config::k, "depth")
                      .setting("slots", &Config::slots, "tiles on their way")
                      .arrays({"a", "b"}, {"d"}));
