// Step 1: a CTA makes one 128 x 128 tile of D. It fetches a tile of A and of B, multiplies, fetches the next.
#include "matmul.h"
using namespace tutorial;

namespace {
constexpr int64_t tile_m = 128, tile_n = 128, tile_k = 64;

plgpu::Kernel record(const Sizes& c) {
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::Ref a_smem = s["a_smem"], b_smem = s["b_smem"], d_smem = s["d_smem"];
        const plgpu::BarrierRef loaded = s.barrier("loaded");
        const auto rows = pl::ds(pl::axis_index("m") * tile_m, tile_m);
        const auto columns = pl::ds(pl::axis_index("n") * tile_n, tile_n);
        const plgpu::Array sum = pl::run_scoped(
            [&](const plgpu::Ref& acc) {
              pl::fori_loop(0, c.k / tile_k, [&](const pl::Scalar& step) {
                const auto depth = pl::ds(step * tile_k, tile_k);
                plgpu::copy_gmem_to_smem(a.at(rows, depth), a_smem, loaded);
                plgpu::copy_gmem_to_smem(b.at(depth, columns), b_smem, loaded);
                plgpu::barrier_wait(loaded);
                plgpu::wgmma(acc, a_smem, b_smem);
                plgpu::wgmma_wait(0);  // the next copies overwrite what it reads
              });
              return acc.load();
            },
            plgpu::ACC({tile_m, tile_n}, pl::f32));
        d_smem.store(sum.astype(pl::f16));
        plgpu::commit_smem();  // TMA sees what was stored
        plgpu::copy_smem_to_gmem(d_smem, d.at(rows, columns));
        plgpu::wait_smem_to_gmem(0);
      },
      {.in_types = {{pl::f16, {c.m, c.k}}, {pl::f16, {c.k, c.n}}},
       .out_type = {pl::f16, {c.m, c.n}},
       .scratch_types = {{"a_smem", tile_of({tile_m, tile_k})},
                         {"b_smem", tile_of({tile_k, tile_n})},
                         {"d_smem", tile_of({tile_m, tile_n})},
                         {"loaded", plgpu::Barrier({.num_arrivals = 2})}},
       .grid = {c.m / tile_m, c.n / tile_n},
       .grid_names = {"m", "n"},
       .name = "step1"});
}
}  // namespace

PALLADION_KERNELS(matmul_step("step1", "D = A B, one tile at a time", record));
