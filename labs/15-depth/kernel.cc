#include <palladion/program.h>
using namespace palladion::program;

// Latency 800 cycles, 20 bytes a cycle wanted for an SM, tiles of 2048 bytes: how many tiles must be under way at least?
// answer tiles: ?  //! not solution
// answer tiles: 8  //! solution

struct Config {
  int64_t rows = 528, n = 512, ctas = 132, stages = 8;
};

plgpu::Kernel twice(const Config& c) {
  const int64_t steps = c.rows / c.ctas;
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out, plgpu::Scratch& s) {
        const pl::Scalar first = pl::program_id(0) * steps;
        const int64_t boxes = c.n / 256;  // TMA copies at most 256 elements of a dimension
        const auto fetch = [&](const pl::Scalar& step, const pl::Scalar& slot) {
          for (int64_t i = 0; i < boxes; ++i)
            plgpu::copy_gmem_to_smem(x.at(first + step, pl::ds(i * 256, 256)), s["row"].at(slot, pl::ds(i * 256, 256)),
                                     s.barrier("full").at(slot));
        };
        const auto use = [&](const pl::Scalar& step, const pl::Scalar& slot) {
          plgpu::barrier_wait(s.barrier("full").at(slot));
          out.at(first + step).store(s["row"].at(slot).load() * 2);
          plgpu::commit_smem();  // the row has been read
        };
        pl::fori_loop(0, steps, [&](const pl::Scalar& step) {  // TODO  //! starter
          fetch(step, 0);  //! starter
          use(step, 0);  //! starter
        });  //! starter
        const int64_t ahead = std::min(c.stages, steps);  //! solution too-far
        const int64_t ahead = std::min<int64_t>(2, steps);  //! two-only
        for (int64_t i = 0; i < ahead; ++i) fetch(i, i);  //! not starter
        pl::fori_loop(0, steps, [&](const pl::Scalar& step) {  //! not starter
          const pl::Scalar slot = step % c.stages;  //! not starter two-only
          const pl::Scalar slot = step % 2;  //! two-only
          pl::when(step + c.stages < steps, [&] { fetch(step + c.stages, slot); });  //! too-far
          use(step, slot);  //! not starter
          pl::when(step + c.stages < steps, [&] { fetch(step + c.stages, slot); });  //! solution
          pl::when(step + 2 < steps, [&] { fetch(step + 2, slot); });  //! two-only
        });  //! not starter
      },
      {.in_types = {{pl::f32, {c.rows, c.n}}},
       .out_type = {{pl::f32, {c.rows, c.n}}},
       .scratch_types = {{"row", plgpu::SMEM({c.stages, c.n}, pl::f32)},
                         {"full", plgpu::Barrier({.num_arrivals = int(c.n / 256), .num_barriers = {c.stages}})}},
       .grid = {c.ctas},
       .name = "twice"});
}

PALLADION_KERNELS(Spec("twice", "out = 2 x", twice)
                      .size("rows", &Config::rows, "rows, a multiple of the CTAs")
                      .size("n", &Config::n, "elements of a row, a multiple of 256")
                      .setting("ctas", &Config::ctas, "CTAs")
                      .setting("stages", &Config::stages, "rows on their way")
                      .arrays({"x"}, {"out"}));
