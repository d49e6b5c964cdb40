// Step 4: persistent. One CTA an SM makes tile after tile; the producer fetches the next tile while the last
// is stored.
#include "matmul.h"
using namespace tutorial;

namespace {
constexpr int64_t tile_m = 256, tile_n = 128, tile_k = 64, stages = 4, consumers = 2, sms = 132;
constexpr int64_t own_m = tile_m / consumers, piece = 64;

plgpu::Kernel record(const Sizes& c) {
  const int64_t steps = c.k / tile_k, tiles = c.m / tile_m * (c.n / tile_n), ctas = std::min(sms, tiles);
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::Ref a_smem = s["a_smem"], b_smem = s["b_smem"], d_smem = s["d_smem"];
        const plgpu::BarrierRef full = s.barrier("full"), empty = s.barrier("empty");
        const pl::Scalar role = pl::axis_index("wg"), first = pl::axis_index("cta");
        const pl::Scalar own_tiles = (tiles - 1 - first) / ctas + 1;
        // body(number of the tile, its first row, its first column), in an order that reuses L2
        const auto for_each_tile = [&](const auto& body) {
          pl::fori_loop(0, own_tiles, [&](const pl::Scalar& i) {
            const auto [mi, ni] = plgpu::planar_snake(first + i * ctas, {c.m / tile_m, c.n / tile_n}, 1, 8);
            body(i, mi * tile_m, ni * tile_n);
          });
        };

        pl::when(role == consumers, [&] {  // the producer
          plgpu::set_max_registers(40, "decrease");
          for_each_tile([&](const pl::Scalar& i, const pl::Scalar& m0, const pl::Scalar& n0) {
            pl::fori_loop(0, steps, [&](const pl::Scalar& k) {
              const pl::Scalar step = i * steps + k, slot = step % stages;
              const auto depth = pl::ds(k * tile_k, tile_k);
              pl::when(step >= stages, [&] { plgpu::barrier_wait(empty.at(slot)); });
              plgpu::copy_gmem_to_smem(a.at(pl::ds(m0, tile_m), depth), a_smem.at(slot), full.at(slot));
              plgpu::copy_gmem_to_smem(b.at(depth, pl::ds(n0, tile_n)), b_smem.at(slot), full.at(slot));
            });
          });
          // Every phase is waited for: no copy writes to the shared memory of a CTA that has ended.
          pl::fori_loop(0, stages, [&](const pl::Scalar& i) {
            const pl::Scalar step = own_tiles * steps + i;
            pl::when(step >= stages, [&] { plgpu::barrier_wait(empty.at(step % stages)); });
          });
        });

        pl::when(role < consumers, [&] {
          plgpu::set_max_registers(232, "increase");
          const auto own = pl::ds(role * own_m, own_m);
          for_each_tile([&](const pl::Scalar& i, const pl::Scalar& m0, const pl::Scalar& n0) {
            const plgpu::Array sum = pl::run_scoped(
                [&](const plgpu::Ref& acc) {
                  pl::fori_loop(0, steps, [&](const pl::Scalar& k) {
                    const pl::Scalar step = i * steps + k, slot = step % stages;
                    plgpu::barrier_wait(full.at(slot));
                    plgpu::wgmma(acc, a_smem.at(slot, own), b_smem.at(slot));
                    pl::when(k > 0, [&] { plgpu::barrier_arrive(empty.at((step + (stages - 1)) % stages)); });
                  });
                  return acc.load();
                },
                plgpu::ACC({own_m, tile_n}, pl::f32));
            plgpu::barrier_arrive(empty.at((i * steps + (steps - 1)) % stages));
            // Two buffers: the store of one piece runs while the next is converted.
            int buffer = 0;
            for (int64_t r = 0; r < own_m; r += piece)
              for (int64_t n = 0; n < tile_n; n += piece, buffer ^= 1) {
                const plgpu::Ref smem = d_smem.at(role, buffer);
                plgpu::wait_smem_to_gmem(1, true);  // the store before the last has read its buffer
                smem.store(plgpu::slice(sum, {r, n}, {r + piece, n + piece}).astype(pl::f16));
                plgpu::commit_smem();
                plgpu::copy_smem_to_gmem(smem,
                                         d.at(pl::ds(m0 + role * own_m + r, piece), pl::ds(n0 + n, piece)));
              }
          });
          plgpu::wait_smem_to_gmem(0);
        });
      },
      {.in_types = {{pl::f16, {c.m, c.k}}, {pl::f16, {c.k, c.n}}},
       .out_type = {pl::f16, {c.m, c.n}},
       .scratch_types = {{"a_smem", tile_of({stages, tile_m, tile_k})},
                         {"b_smem", tile_of({stages, tile_k, tile_n})},
                         {"d_smem", tile_of({consumers, 2, piece, piece})},
                         {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {stages}})},
                         {"empty", plgpu::Barrier({.num_arrivals = consumers, .num_barriers = {stages}})}},
       .grid = {ctas},
       .grid_names = {"cta"},
       .num_threads = consumers + 1,
       .thread_name = "wg",
       .name = "step4"});
}
}  // namespace

PALLADION_KERNELS(matmul_step("step4", "D = A B, one CTA an SM, tile after tile", record));
