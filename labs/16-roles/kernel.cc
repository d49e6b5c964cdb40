#include <palladion/program.h>
using namespace palladion::program;

// Four warpgroups start with 128 registers a thread. Two producers go down to 24. Up to how many can the two consumers go?
// (The number is a multiple of 8, at most 256.)
// answer registers: ?  //! not solution
// answer registers: 232  //! solution

struct Config {
  int64_t m = 256, n = 128, k = 256, slots = 3;
};

constexpr int64_t tile_m = 128, tile_n = 128, tile_k = 64;  // two consumers of 64 rows each

plgpu::Kernel matmul(const Config& c) {
  const plgpu::AllocationOptions tiled{.transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  const int64_t steps = c.k / tile_k;
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& d, plgpu::Scratch& s) {
        const plgpu::BarrierRef &full = s.barrier("full"), &empty = s.barrier("empty");
        const pl::Scalar wg = pl::axis_index("wg"), row = pl::program_id(0) * tile_m;
        const auto columns = pl::ds(pl::program_id(1) * tile_n, tile_n);
        pl::when(wg == 2, [&] {  // the producer
          plgpu::set_max_registers(40, "decrease");  //! solution one-arrival early-release too-greedy
          pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
            const pl::Scalar slot = step % c.slots;
            const auto depth = pl::ds(step * tile_k, tile_k);
            pl::when(step >= c.slots, [&] { plgpu::barrier_wait(empty.at(slot)); });
            plgpu::copy_gmem_to_smem(a.at(pl::ds(row, tile_m), depth), s["a"].at(slot), full.at(slot));
            plgpu::copy_gmem_to_smem(b.at(depth, columns), s["b"].at(slot), full.at(slot));
          });
        });
        pl::when(wg < 2, [&] {  // the consumers
          plgpu::set_max_registers(232, "increase");  //! not too-greedy
          plgpu::set_max_registers(240, "increase");  //! too-greedy
          const plgpu::Array product = pl::run_scoped(
              [&](const plgpu::Ref& acc) {
                pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
                  const pl::Scalar slot = step % c.slots;
                  plgpu::barrier_wait(full.at(slot));
                  plgpu::wgmma(acc, s["a"].at(slot, pl::ds(wg * 64, 64)), s["b"].at(slot));
                  plgpu::barrier_arrive(empty.at(slot));  //! early-release
                  // The product of the step before is complete, and its slot free.  //! not early-release
                  pl::when(step > 0, [&] { plgpu::barrier_arrive(empty.at((step + (c.slots - 1)) % c.slots)); });  //! not early-release
                });
                return acc.load();
              },
              plgpu::ACC({64, tile_n}, pl::f32));
          d.at(pl::ds(row + wg * 64, 64), columns).store(product);
        });
      },
      {.in_types = {{pl::f16, {c.m, c.k}}, {pl::f16, {c.k, c.n}}},
       .out_type = {{pl::f32, {c.m, c.n}}},
       .scratch_types = {{"a", plgpu::SMEM({c.slots, tile_m, tile_k}, pl::f16, tiled)},
                         {"b", plgpu::SMEM({c.slots, tile_k, tile_n}, pl::f16, tiled)},
                         {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.slots}})},
                         {"empty", plgpu::Barrier({.num_arrivals = 1, .num_barriers = {c.slots}})}},  // TODO  //! starter one-arrival
                         {"empty", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.slots}})}},  //! not starter one-arrival
       .grid = {c.m / tile_m, c.n / tile_n},
       .num_threads = 3,
       .thread_name = "wg",
       .name = "matmul"});
}

PALLADION_KERNELS(Spec("matmul", "d = a b", matmul)
                      .size("m", &Config::m, "rows of a")
                      .size("n", &Config::n, "columns of b")
                      .size("k", &Config::k, "depth")
                      .setting("slots", &Config::slots, "tiles on their way")
                      .arrays({"a", "b"}, {"d"}));
