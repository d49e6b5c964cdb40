#include <palladion/program.h>
using namespace palladion::program;

// For what do the warps wait most, in one word of the report ("most of it for ...")?
// answer stall: ?  //! not solution guess
// answer stall: barrier  //! solution
// answer stall: mbarrier  //! guess
// Which change would help most, by the experiment of --why? (1, 2 or 3, of this list)
//   1 HBM without limit   2 barrier wake-ups free   3 a tensor core twice as fast
// answer change: ?  //! not solution
// answer change: 2  //! solution

struct Config {
  int64_t rows = 1056, n = 256, ctas = 132;
};

constexpr int64_t stages = 8;
constexpr int64_t rows_a_step = 1;  // TODO  //! starter guess
constexpr int64_t rows_a_step = 4;  //! solution
constexpr int64_t rows_a_step = 2;  //! two-rows

plgpu::Kernel twice(const Config& c) {
  const int64_t steps = c.rows / c.ctas / rows_a_step;
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out, plgpu::Scratch& s) {
        const plgpu::Ref &in = s["in"], &result = s["result"];
        const plgpu::BarrierRef& full = s.barrier("full");
        const pl::Scalar first = pl::program_id(0) * (steps * rows_a_step);
        const auto rows = [&](const pl::Scalar& step) { return pl::ds(first + step * rows_a_step, rows_a_step); };
        const auto fetch = [&](const pl::Scalar& step) {
          plgpu::copy_gmem_to_smem(x.at(rows(step)), in.at(step % stages), full.at(step % stages));
        };
        for (int64_t i = 0; i < std::min(stages, steps); ++i) fetch(i);
        pl::fori_loop(0, steps, [&](const pl::Scalar& step) {
          const plgpu::Ref buffer = result.at(step % 2);
          plgpu::barrier_wait(full.at(step % stages));
          plgpu::wait_smem_to_gmem(1, true);  // the copy before the last one has read this buffer
          buffer.store(in.at(step % stages).load() * 2);
          plgpu::commit_smem();  // what was stored, and that the slot has been read
          plgpu::copy_smem_to_gmem(buffer, out.at(rows(step)));
          pl::when(step + stages < steps, [&] { fetch(step + stages); });
        });
        plgpu::wait_smem_to_gmem(0);
      },
      {.in_types = {{pl::f32, {c.rows, c.n}}},
       .out_type = {{pl::f32, {c.rows, c.n}}},
       .scratch_types = {{"in", plgpu::SMEM({stages, rows_a_step, c.n}, pl::f32)},
                         {"result", plgpu::SMEM({2, rows_a_step, c.n}, pl::f32)},
                         {"full", plgpu::Barrier({.num_barriers = {stages}})}},
       .grid = {c.ctas},
       .name = "twice"});
}

PALLADION_KERNELS(Spec("twice", "out = 2 x", twice)
                      .size("rows", &Config::rows, "rows, a multiple of 8 times the CTAs")
                      .size("n", &Config::n, "elements of a row, at most 256")
                      .setting("ctas", &Config::ctas, "CTAs")
                      .arrays({"x"}, {"out"}));
