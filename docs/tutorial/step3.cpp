// Step 3: roles. One warpgroup only fetches, two multiply: a tile of 256 x 128, so fewer bytes for each
// product.
#include "matmul.h"
using namespace tutorial;

namespace {
constexpr int64_t tile_m = 256, tile_n = 128, tile_k = 64, stages = 4, consumers = 2;
constexpr int64_t own_m = tile_m / consumers, piece = 64;  // rows of D of a consumer; rows stored at a time

plgpu::Kernel record(const Sizes& c) {
  const int64_t steps = c.k / tile_k;
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::Ref a_smem = s["a_smem"], b_smem = s["b_smem"], d_smem = s["d_smem"];
        const plgpu::BarrierRef full = s.barrier("full"), empty = s.barrier("empty");
        const pl::Scalar role = pl::axis_index("wg"), m0 = pl::axis_index("m") * tile_m;
        const auto columns = pl::ds(pl::axis_index("n") * tile_n, tile_n);

        pl::when(role == consumers, [&] {  // the producer
          plgpu::set_max_registers(40, "decrease");
          pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
            const pl::Scalar slot = step % stages;
            const auto depth = pl::ds(step * tile_k, tile_k);
            pl::when(step >= stages, [&] { plgpu::barrier_wait(empty.at(slot)); });
            plgpu::copy_gmem_to_smem(a.at(pl::ds(m0, tile_m), depth), a_smem.at(slot), full.at(slot));
            plgpu::copy_gmem_to_smem(b.at(depth, columns), b_smem.at(slot), full.at(slot));
          });
          // Every phase is waited for: no copy writes to the shared memory of a CTA that has ended.
          pl::fori_loop(0, std::min(stages, steps), [&](const pl::Scalar& i) {
            plgpu::barrier_wait(empty.at((std::max<int64_t>(steps - stages, 0) + i) % stages));
          });
        });

        pl::when(role < consumers, [&] {
          plgpu::set_max_registers(232, "increase");
          const auto own = pl::ds(role * own_m, own_m);
          const plgpu::Array sum = pl::run_scoped(
              [&](const plgpu::Ref& acc) {
                pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
                  const pl::Scalar slot = step % stages;
                  plgpu::barrier_wait(full.at(slot));
                  plgpu::wgmma(acc, a_smem.at(slot, own), b_smem.at(slot));
                  pl::when(step > 0,
                           [&] { plgpu::barrier_arrive(empty.at((step + (stages - 1)) % stages)); });
                });
                return acc.load();
              },
              plgpu::ACC({own_m, tile_n}, pl::f32));
          plgpu::barrier_arrive(empty.at((steps - 1) % stages));
          for (int64_t r = 0; r < own_m; r += piece) {  // SMEM has room for 64 rows of D beside the ring
            plgpu::wait_smem_to_gmem(0);
            d_smem.at(role).store(plgpu::slice(sum, {r, 0}, {r + piece, tile_n}).astype(pl::f16));
            plgpu::commit_smem();
            plgpu::copy_smem_to_gmem(d_smem.at(role), d.at(pl::ds(m0 + role * own_m + r, piece), columns));
          }
          plgpu::wait_smem_to_gmem(0);
        });
      },
      {.in_types = {{pl::f16, {c.m, c.k}}, {pl::f16, {c.k, c.n}}},
       .out_type = {pl::f16, {c.m, c.n}},
       .scratch_types = {{"a_smem", tile_of({stages, tile_m, tile_k})},
                         {"b_smem", tile_of({stages, tile_k, tile_n})},
                         {"d_smem", tile_of({consumers, piece, tile_n})},
                         {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {stages}})},
                         {"empty", plgpu::Barrier({.num_arrivals = consumers, .num_barriers = {stages}})}},
       .grid = {c.m / tile_m, c.n / tile_n},
       .grid_names = {"m", "n"},
       .num_threads = consumers + 1,
       .thread_name = "wg",
       .name = "step3"});
}
}  // namespace

PALLADION_KERNELS(matmul_step("step3", "D = A B, one warpgroup fetches, two multiply", record));
