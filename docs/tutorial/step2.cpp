// Step 2: a ring of slots. While wgmma reads one slot, TMA fills the others.
#include "matmul.h"
using namespace tutorial;

namespace {
constexpr int64_t tile_m = 128, tile_n = 128, tile_k = 64, stages = 4;

plgpu::Kernel record(const Sizes& c) {
  const int64_t steps = c.k / tile_k;
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::Ref a_smem = s["a_smem"], b_smem = s["b_smem"], d_smem = s["d_smem"];
        const plgpu::BarrierRef loaded = s.barrier("loaded");
        const auto rows = pl::ds(pl::axis_index("m") * tile_m, tile_m);
        const auto columns = pl::ds(pl::axis_index("n") * tile_n, tile_n);
        const auto fetch = [&](const pl::Scalar& step, const pl::Scalar& slot) {
          const auto depth = pl::ds(step * tile_k, tile_k);
          plgpu::copy_gmem_to_smem(a.at(rows, depth), a_smem.at(slot), loaded.at(slot));
          plgpu::copy_gmem_to_smem(b.at(depth, columns), b_smem.at(slot), loaded.at(slot));
        };
        for (int64_t slot = 0; slot < std::min(stages, steps); ++slot) fetch(slot, slot);
        const plgpu::Array sum = pl::run_scoped(
            [&](const plgpu::Ref& acc) {
              pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
                const pl::Scalar slot = step % stages;
                plgpu::barrier_wait(loaded.at(slot));
                plgpu::wgmma(acc, a_smem.at(slot), b_smem.at(slot));
                // The product before this one is done, and with it the slot that it read.
                const pl::Scalar next = step + (stages - 1);
                pl::when(step > 0 && next < steps, [&] {
                  plgpu::commit_smem();  // all four warps are past that product: B is read by all
                  fetch(next, next % stages);
                });
              });
              return acc.load();
            },
            plgpu::ACC({tile_m, tile_n}, pl::f32));
        d_smem.store(sum.astype(pl::f16));
        plgpu::commit_smem();
        plgpu::copy_smem_to_gmem(d_smem, d.at(rows, columns));
        plgpu::wait_smem_to_gmem(0);
      },
      {.in_types = {{pl::f16, {c.m, c.k}}, {pl::f16, {c.k, c.n}}},
       .out_type = {pl::f16, {c.m, c.n}},
       .scratch_types = {{"a_smem", tile_of({stages, tile_m, tile_k})},
                         {"b_smem", tile_of({stages, tile_k, tile_n})},
                         {"d_smem", tile_of({tile_m, tile_n})},
                         {"loaded", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {stages}})}},
       .grid = {c.m / tile_m, c.n / tile_n},
       .grid_names = {"m", "n"},
       .name = "step2"});
}
}  // namespace

PALLADION_KERNELS(matmul_step("step2", "D = A B, slots filled ahead", record));
