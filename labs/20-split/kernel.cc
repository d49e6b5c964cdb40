#include <palladion/program.h>
using namespace palladion::program;

struct Config {
  int64_t splits = 4, n = 4096;
};

constexpr int64_t tile = 1024;

plgpu::Kernel split(const Config& c) {
  const int64_t tiles = c.n / tile;
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out, plgpu::Scratch& s) {
        // All tiles of a split before any of the next: who is waited for has started before.
        const pl::Scalar number = pl::program_id(0) % tiles, split = pl::program_id(0) / tiles;
        const auto columns = pl::ds(number * tile, tile);
        const plgpu::Array part = x.at(split, columns).load();
        const plgpu::Ref turn = s["turns"].at(number);
        plgpu::semaphore_wait(turn, split, {.decrement = false, .memory_scope = "gpu"});  //! solution early-signal
        plgpu::semaphore_wait(turn, split, {.decrement = false, .memory_scope = "cta"});  //! cta-scope
        plgpu::semaphore_wait(turn, split + 1, {.decrement = false, .memory_scope = "gpu"});  //! off-by-one
        plgpu::semaphore_signal(turn, 1, {.memory_scope = "gpu"});  //! early-signal
        pl::cond(
            split == 0, [&] { out.at(columns).store(part); },
            [&] { out.at(columns).store(out.at(columns).load() + part); });
        plgpu::semaphore_signal(turn, 1, {.memory_scope = "gpu"});  //! solution off-by-one
        plgpu::semaphore_signal(turn, 1, {.memory_scope = "cta"});  //! cta-scope
      },
      {.in_types = {{pl::f32, {c.splits, c.n}}},
       .out_type = {{pl::f32, {c.n}}},
       .scratch_types = {{"turns", plgpu::SemaphoreType::REGULAR({tiles})}},
       .grid = {tiles * c.splits},
       .name = "split"});
}

PALLADION_KERNELS(Spec("split", "out = sum of the rows of x", split)
                      .size("splits", &Config::splits, "rows of x")
                      .size("n", &Config::n, "columns, a multiple of 1024")
                      .arrays({"x"}, {"out"}));
