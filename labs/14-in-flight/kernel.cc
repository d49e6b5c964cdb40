#include <palladion/program.h>
using namespace palladion::program;

struct Config {
  int64_t m = 128, n = 128, k = 256, slots = 4;
};

constexpr int64_t tile_m = 64, tile_n = 128, tile_k = 64;

plgpu::Kernel matmul(const Config& c) {
  const plgpu::AllocationOptions tiled{.transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  const int64_t steps = c.k / tile_k;
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const auto rows = pl::ds(pl::program_id(0) * tile_m, tile_m), columns = pl::ds(pl::program_id(1) * tile_n, tile_n);
        const auto fetch = [&](const pl::Scalar& step) {
          const pl::Scalar slot = step % c.slots;
          const auto depth = pl::ds(step * tile_k, tile_k);
          plgpu::copy_gmem_to_smem(a.at(rows, depth), s["a"].at(slot), s.barrier("full").at(slot));
          plgpu::copy_gmem_to_smem(b.at(depth, columns), s["b"].at(slot), s.barrier("full").at(slot));
        };
        for (int64_t step = 0; step < std::min(c.slots, steps); ++step) fetch(step);
        const plgpu::Array product = pl::run_scoped(
            [&](const plgpu::Ref& acc) {
              pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
                const pl::Scalar slot = step % c.slots;
                plgpu::barrier_wait(s.barrier("full").at(slot));
                plgpu::wgmma(acc, s["a"].at(slot), s["b"].at(slot));
                plgpu::wgmma_wait(0);  //! drained
                plgpu::commit_smem();  // all four warps are here
                pl::when(step + c.slots < steps, [&] { fetch(step + c.slots); });  // TODO  //! starter drained early-read
                const pl::Scalar next = step + (c.slots - 1);  // into the slot of the step before  //! solution
                pl::when(step > 0 && next < steps, [&] { fetch(next); });  //! solution
              });
              return acc.load();  //! not early-read
              return plgpu::wgmma_accumulator_load(acc, -1);  //! early-read
            },
            plgpu::ACC({tile_m, tile_n}, pl::f32));
        d.at(rows, columns).store(product);
      },
      {.in_types = {{pl::f16, {c.m, c.k}}, {pl::f16, {c.k, c.n}}},
       .out_type = {{pl::f32, {c.m, c.n}}},
       .scratch_types = {{"a", plgpu::SMEM({c.slots, tile_m, tile_k}, pl::f16, tiled)},
                         {"b", plgpu::SMEM({c.slots, tile_k, tile_n}, pl::f16, tiled)},
                         {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.slots}})}},
       .grid = {c.m / tile_m, c.n / tile_n},
       .name = "matmul"});
}

PALLADION_KERNELS(Spec("matmul", "d = a b", matmul)
                      .size("m", &Config::m, "rows of a")
                      .size("n", &Config::n, "columns of b")
                      .size("k", &Config::k, "depth")
                      .setting("slots", &Config::slots, "tiles on their way")
                      .arrays({"a", "b"}, {"d"}));
