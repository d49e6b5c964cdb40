#include <palladion/program.h>
using namespace palladion::program;

struct Config {
  int64_t k = 512, slots = 3;
};

constexpr int64_t m = 128, n = 128, tile_k = 64;

plgpu::Kernel matmul(const Config& c) {
  const plgpu::AllocationOptions tiled{.transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  const int64_t steps = c.k / tile_k;
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::BarrierRef &full = s.barrier("full"), &consumed = s.barrier("consumed");
        plgpu::warp_map([&](const pl::Scalar& warp) {
          pl::when(warp == 0, [&] {  // the producer
            pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
              const pl::Scalar slot = step % c.slots;
              const auto depth = pl::ds(step * tile_k, tile_k);
              pl::when(step >= c.slots, [&] { plgpu::barrier_wait(consumed.at(slot)); });
              plgpu::copy_gmem_to_smem(a.at(pl::all, depth), s["a"].at(slot), full.at(slot));
              plgpu::copy_gmem_to_smem(b.at(depth, pl::all), s["b"].at(slot), full.at(slot));
            });
          });
          pl::when(warp == 1, [&] {  // issues the products
            pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
              const pl::Scalar slot = step % c.slots;
              plgpu::barrier_wait(full.at(slot));
              plgpu::tcgen05_commit_arrive(consumed.at(slot));  //! commit-first
              plgpu::tcgen05_mma(s["acc"], s["a"].at(slot), s["b"].at(slot), {.accumulate = step > 0});  //! starter commit-first no-release
              plgpu::tcgen05_mma(s["acc"], s["a"].at(slot), s["b"].at(slot), consumed.at(slot), {.accumulate = step > 0});  //! solution
              plgpu::barrier_arrive(consumed.at(slot));  // TODO  //! starter
            });
            plgpu::tcgen05_commit_arrive(s.barrier("done"));
          });
        });
        plgpu::barrier_wait(s.barrier("done"));
        d.store(plgpu::async_load_tmem(s["acc"]));
      },
      {.in_types = {{pl::f16, {m, c.k}}, {pl::f16, {c.k, n}}},
       .out_type = {{pl::f32, {m, n}}},
       .scratch_types = {{"acc", plgpu::TMEM({m, n}, pl::f32)},
                         {"a", plgpu::SMEM({c.slots, m, tile_k}, pl::f16, tiled)},
                         {"b", plgpu::SMEM({c.slots, tile_k, n}, pl::f16, tiled)},
                         {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.slots}})},
                         {"consumed", plgpu::Barrier({.num_barriers = {c.slots}})},  // TODO  //! starter
                         {"consumed", plgpu::Barrier({.num_barriers = {c.slots}, .orders_tensor_core = true})},  //! not starter
                         {"done", plgpu::Barrier({.orders_tensor_core = true})}},
       .name = "matmul"});
}

PALLADION_KERNELS(Spec("matmul", "d = a b", matmul)
                      .size("k", &Config::k, "depth, a multiple of 64")
                      .setting("slots", &Config::slots, "tiles on their way")
                      .arrays({"a", "b"}, {"d"}));
