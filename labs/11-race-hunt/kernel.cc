#include <palladion/program.h>
using namespace palladion::program;

struct Config {
  int64_t rows = 4, n = 512;
};

plgpu::Kernel sums(const Config& c) {
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out, plgpu::Scratch& s) {
        const plgpu::Ref& half = s["half"];
        const pl::Scalar me = pl::axis_index("wg"), other = 1 - me;
        const int64_t width = c.n / 2;
        pl::fori_loop(0, c.rows, [&](const pl::Scalar& row) {
          const plgpu::Array part = x.at(row, pl::ds(me * width, width)).load();
          half.at(me).store(part.sum_all());
          plgpu::barrier_arrive(s.barrier("written"));  //! not starter
          plgpu::barrier_wait(s.barrier("written"));  //! not starter own-wait
          const pl::Scalar total = half.at(me).load_scalar() + half.at(other).load_scalar();
          plgpu::barrier_arrive(s.barrier("read"));  //! solution alone
          plgpu::barrier_wait(s.barrier("read"));  //! solution alone
          pl::when(me == 0, [&] { out.at(row).store(total); });
        });
      },
      {.in_types = {{pl::f32, {c.rows, c.n}}},
       .out_type = {{pl::f32, {c.rows}}},
       .scratch_types = {{"half", plgpu::SMEM({2}, pl::f32)}},  // TODO: barriers  //! starter
       .scratch_types = {{"half", plgpu::SMEM({2}, pl::f32)},  //! not starter
                         {"written", plgpu::Barrier({.num_arrivals = 2})},  //! solution
                         {"written", plgpu::Barrier({.num_arrivals = 2})}},  //! one-barrier own-wait
                         {"written", plgpu::Barrier({.num_arrivals = 1})},  //! alone
                         {"read", plgpu::Barrier({.num_arrivals = 2})}},  //! solution alone
       .num_threads = 2,
       .thread_name = "wg",
       .name = "sums"});
}

PALLADION_KERNELS(Spec("sums", "out = sums of the rows", sums)
                      .size("rows", &Config::rows, "rows")
                      .size("n", &Config::n, "elements of a row")
                      .arrays({"x"}, {"out"}));
