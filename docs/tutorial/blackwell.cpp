// D = A B on Blackwell: a CTA computes one tile of D with tcgen05.
#include <palladion/program.h>
using namespace palladion::program;

struct Config {
  int64_t m = 256, n = 256, k = 256, stages = 3;
};

constexpr int64_t tile_m = 128, tile_n = 128, tile_k = 64;

plgpu::Kernel product(const Config& c) {
  const plgpu::AllocationOptions tiled{
      .transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  const plgpu::BarrierOptions by_product{.num_barriers = {c.stages}, .orders_tensor_core = true};
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& out, plgpu::Scratch& s) {
        const plgpu::BarrierRef &full = s.barrier("full"), &empty = s.barrier("empty"),
                                &done = s.barrier("done");
        const auto rows = pl::ds(pl::axis_index("m") * tile_m, tile_m),
                   columns = pl::ds(pl::axis_index("n") * tile_n, tile_n);
        const int64_t steps = c.k / tile_k;
        plgpu::warp_map([&](const pl::Scalar& warp) {
          pl::when(warp == 0, [&] {  // one lane fetches
            pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
              const pl::Scalar slot = step % c.stages;
              const auto depth = pl::ds(step * tile_k, tile_k);
              pl::when(step >= c.stages, [&] { plgpu::barrier_wait(empty.at(slot)); });
              plgpu::copy_gmem_to_smem(a.at(rows, depth), s["a"].at(slot), full.at(slot));
              plgpu::copy_gmem_to_smem(b.at(depth, columns), s["b"].at(slot), full.at(slot));
            });
          });
          pl::when(warp == 1, [&] {  // one lane multiplies
            pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
              const pl::Scalar slot = step % c.stages;
              plgpu::barrier_wait(full.at(slot));
              plgpu::tcgen05_mma(s["acc"], s["a"].at(slot), s["b"].at(slot), empty.at(slot),
                                 {.accumulate = step > 0});
            });
            plgpu::tcgen05_commit_arrive(done);
          });
        });
        plgpu::barrier_wait(done);
        s["out"].store(plgpu::async_load_tmem(s["acc"]).astype(pl::f16));
        plgpu::commit_smem();
        plgpu::copy_smem_to_gmem(s["out"], out.at(rows, columns));
        plgpu::wait_smem_to_gmem(0, true);
      },
      {.in_types = {{pl::f16, {c.m, c.k}}, {pl::f16, {c.k, c.n}}},
       .out_type = {{pl::f16, {c.m, c.n}}},
       .scratch_types = {{"a", plgpu::SMEM({c.stages, tile_m, tile_k}, pl::f16, tiled)},
                         {"b", plgpu::SMEM({c.stages, tile_k, tile_n}, pl::f16, tiled)},
                         {"out", plgpu::SMEM({tile_m, tile_n}, pl::f16, tiled)},
                         {"acc", plgpu::TMEM({tile_m, tile_n}, pl::f32)},
                         {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.stages}})},
                         {"empty", plgpu::Barrier(by_product)},
                         {"done", plgpu::Barrier({.orders_tensor_core = true})}},
       .grid = {c.m / tile_m, c.n / tile_n},
       .grid_names = {"m", "n"},
       .name = "product"});
}

Array reference(const Config& c, const std::vector<Array>& in) {
  const std::vector<float> a = to_floats(in[0]), b = to_floats(in[1]);
  std::vector<float> d(static_cast<size_t>(c.m * c.n));
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < c.n; ++j)
      for (int64_t l = 0; l < c.k; ++l) d[i * c.n + j] += a[i * c.k + l] * b[l * c.n + j];
  return from_floats({pl::f16, {c.m, c.n}}, d);
}

PALLADION_KERNELS(Spec("product", "D = A B with tcgen05", product)
                      .size("m", &Config::m, "rows of A, a multiple of 128")
                      .size("n", &Config::n, "columns of B, a multiple of 128")
                      .size("k", &Config::k, "columns of A, a multiple of 64")
                      .setting("stages", &Config::stages, "slots of A and B", {.min = 1, .max = 6})
                      .arch("b200")
                      .arrays({"a", "b"}, {"d"})
                      .reference(reference)
                      .tolerance({.relative = 2e-3, .absolute = 2e-2}));
