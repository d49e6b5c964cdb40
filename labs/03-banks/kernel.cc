#include <palladion/program.h>
using namespace palladion::program;

struct Config {
  int64_t m = 64, n = 96;
};

constexpr int64_t edge = 32;

plgpu::Kernel transpose(const Config& c) {
  // A warp holds 32 neighbours of a row.
  const plgpu::Layout along_rows = plgpu::Layout::TILED({{{4, 32}, {1}}}, {-3}, {-2}, -1);
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out, plgpu::Scratch& s) {
        const auto r = pl::ds(pl::program_id(0) * edge, edge), k = pl::ds(pl::program_id(1) * edge, edge);
        const plgpu::Ref buffer = s["buffer"];  //! starter
        const plgpu::Ref buffer = s["buffer"].at(pl::ds(0, edge), pl::ds(0, edge));  //! not starter
        buffer.store(x.at(r, k).load(along_rows));
        out.at(k, r).store(plgpu::load(buffer.transpose({1, 0}), {.layout = along_rows, .optimized = false}));  //! not refused solution
        out.at(k, r).store(plgpu::load(buffer.transpose({1, 0}), {.layout = along_rows}));  //! refused solution
      },
      {.in_types = {{pl::f32, {c.m, c.n}}},
       .out_type = {{pl::f32, {c.n, c.m}}},
       .scratch_types = {{"buffer", plgpu::SMEM({edge, edge}, pl::f32)}},  // TODO  //! starter
       .scratch_types = {{"buffer", plgpu::SMEM({edge, edge + 1}, pl::f32)}},  //! solution
       .scratch_types = {{"buffer", plgpu::SMEM({edge + 1, edge}, pl::f32)}},  //! row-more refused
       .scratch_types = {{"buffer", plgpu::SMEM({edge, edge + 4}, pl::f32)}},  //! four-more
       .grid = {c.m / edge, c.n / edge},
       .name = "transpose"});
}

PALLADION_KERNELS(Spec("transpose", "out = x transposed", transpose)
                      .size("m", &Config::m, "rows of x")
                      .size("n", &Config::n, "columns of x")
                      .arrays({"x"}, {"out"}));
