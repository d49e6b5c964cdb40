#include <palladion/program.h>
using namespace palladion::program;

struct Config {
  int64_t m = 512, n = 256, k = 512, slots = 4;
};

constexpr int64_t tile_m = 64, tile_n = 128, tile_k = 64;  //! starter
constexpr int64_t consumers = 2, rows_each = 128, tile_n = 128, tile_k = 64;  //! not starter small-tile
constexpr int64_t consumers = 2, rows_each = 64, tile_n = 128, tile_k = 64;  //! small-tile
constexpr int64_t tile_m = consumers * rows_each;  //! not starter

plgpu::Kernel matmul(const Config& c) {
  const plgpu::AllocationOptions tiled{.transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  const int64_t steps = c.k / tile_k;
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::BarrierRef& full = s.barrier("full");
        const pl::Scalar row = pl::program_id(0) * tile_m;
        const auto columns = pl::ds(pl::program_id(1) * tile_n, tile_n);
        const auto fetch = [&](const pl::Scalar& step) {
          const pl::Scalar slot = step % c.slots;
          const auto depth = pl::ds(step * tile_k, tile_k);
          plgpu::copy_gmem_to_smem(a.at(pl::ds(row, tile_m), depth), s["a"].at(slot), full.at(slot));
          plgpu::copy_gmem_to_smem(b.at(depth, columns), s["b"].at(slot), full.at(slot));
        };
        for (int64_t step = 0; step < std::min(c.slots, steps); ++step) fetch(step);  //! starter
        const plgpu::Array product = pl::run_scoped(  //! starter
            [&](const plgpu::Ref& acc) {  //! starter
              pl::fori_loop(0, steps, [&](const pl::Scalar& step) {  //! starter
                const pl::Scalar slot = step % c.slots, next = step + (c.slots - 1);  //! starter
                plgpu::barrier_wait(full.at(slot));  //! starter
                plgpu::wgmma(acc, s["a"].at(slot), s["b"].at(slot));  //! starter
                plgpu::commit_smem();  //! starter
                pl::when(step > 0 && next < steps, [&] { fetch(next); });  //! starter
              });  //! starter
              return acc.load();  //! starter
            },  //! starter
            plgpu::ACC({tile_m, tile_n}, pl::f32));  //! starter
        d.at(pl::ds(row, tile_m), columns).store(product.astype(pl::f16));  //! starter
        const plgpu::BarrierRef& empty = s.barrier("empty");  //! not starter
        const pl::Scalar wg = pl::axis_index("wg");  //! not starter
        pl::when(wg == consumers, [&] {  // the producer  //! not starter
          plgpu::set_max_registers(40, "decrease");  //! not starter
          pl::fori_loop(0, steps, [&](const pl::Scalar& step) {  //! not starter
            pl::when(step >= c.slots, [&] { plgpu::barrier_wait(empty.at(step % c.slots)); });  //! not starter
            fetch(step);  //! not starter
          });  //! not starter
        });  //! not starter
        pl::when(wg < consumers, [&] {  //! not starter
          plgpu::set_max_registers(232, "increase");  //! not starter
          const plgpu::Array product = pl::run_scoped(  //! not starter
              [&](const plgpu::Ref& acc) {  //! not starter
                pl::fori_loop(0, steps, [&](const pl::Scalar& step) {  //! not starter
                  const pl::Scalar slot = step % c.slots;  //! not starter
                  plgpu::barrier_wait(full.at(slot));  //! not starter
                  plgpu::wgmma(acc, s["a"].at(slot, pl::ds(wg * rows_each, rows_each)), s["b"].at(slot));  //! not starter
                  // The product of the step before is complete, and its slot free.  //! not starter early-release
                  pl::when(step > 0, [&] { plgpu::barrier_arrive(empty.at((step + (c.slots - 1)) % c.slots)); });  //! not starter early-release
                  plgpu::barrier_arrive(empty.at(slot));  //! early-release
                });  //! not starter
                return acc.load();  //! not starter
              },  //! not starter
              plgpu::ACC({rows_each, tile_n}, pl::f32));  //! not starter
          d.at(pl::ds(row + wg * rows_each, rows_each), columns).store(product.astype(pl::f16));  //! direct-stores
          int buffer = 0;  //! not starter direct-stores
          for (int64_t r = 0; r < rows_each; r += 64)  //! not starter direct-stores
            for (int64_t n = 0; n < tile_n; n += 64, buffer ^= 1) {  //! not starter direct-stores
              const plgpu::Ref part = s["out"].at(wg, buffer);  //! not starter direct-stores
              plgpu::wait_smem_to_gmem(1, true);  //! not starter direct-stores
              part.store(plgpu::slice(product, {r, n}, {r + 64, n + 64}).astype(pl::f16));  //! not starter direct-stores
              plgpu::commit_smem();  //! not starter direct-stores
              plgpu::copy_smem_to_gmem(part, d.at(pl::ds(row + wg * rows_each + r, 64), pl::ds(pl::program_id(1) * tile_n + n, 64)));  //! not starter direct-stores
            }  //! not starter direct-stores
          plgpu::wait_smem_to_gmem(0);  //! not starter direct-stores
        });  //! not starter
      },
      {.in_types = {{pl::f16, {c.m, c.k}}, {pl::f16, {c.k, c.n}}},
       .out_type = {{pl::f16, {c.m, c.n}}},
       .scratch_types = {{"a", plgpu::SMEM({c.slots, tile_m, tile_k}, pl::f16, tiled)},
                         {"b", plgpu::SMEM({c.slots, tile_k, tile_n}, pl::f16, tiled)},
                         {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.slots}})}},  //! starter
                         {"out", plgpu::SMEM({consumers, 2, 64, 64}, pl::f16, tiled)},  //! not starter direct-stores
                         {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.slots}})},  //! not starter
                         {"empty", plgpu::Barrier({.num_arrivals = consumers, .num_barriers = {c.slots}})}},  //! not starter
       .grid = {c.m / tile_m, c.n / tile_n},
       .num_threads = consumers + 1,  //! not starter
       .thread_name = "wg",  //! not starter
       .name = "matmul"});
}

PALLADION_KERNELS(Spec("matmul", "d = a b", matmul)
                      .size("m", &Config::m, "rows of a")
                      .size("n", &Config::n, "columns of b")
                      .size("k", &Config::k, "depth")
                      .setting("slots", &Config::slots, "tiles on their way")
                      .arrays({"a", "b"}, {"d"}));
