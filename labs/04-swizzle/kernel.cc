#include <palladion/program.h>
using namespace palladion::program;

// A tile of f32 with rows of 32 elements, under the 128-byte swizzle. Count from 0.
// In which place of row 3 does chunk 2 lie?
// answer place: ?  //! not solution plus
// answer place: 1  //! solution
// answer place: 5  //! plus
// At which byte from the tile's start is element (row 3, column 9)?
// answer byte: ?  //! not solution plus
// answer byte: 404  //! solution
// answer byte: 468  //! plus

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
        const plgpu::Ref& buffer = s["buffer"];
        plgpu::copy_gmem_to_smem(x.at(r, k), buffer, s.barrier("full"));  //! not by-lanes
        plgpu::barrier_wait(s.barrier("full"));  //! not by-lanes
        buffer.store(x.at(r, k).load(along_rows));  //! by-lanes
        out.at(k, r).store(plgpu::load(buffer.transpose({1, 0}), {.layout = along_rows, .optimized = false}));
      },
      {.in_types = {{pl::f32, {c.m, c.n}}},
       .out_type = {{pl::f32, {c.n, c.m}}},
       .scratch_types = {{"buffer", plgpu::SMEM({edge, edge}, pl::f32)},  // TODO  //! starter
       .scratch_types = {{"buffer", plgpu::SMEM({edge, edge}, pl::f32,  //! not starter
                                                {.transforms = {plgpu::SwizzleTransform(128)}})},  //! solution plus by-lanes
                                                {.transforms = {plgpu::SwizzleTransform(32)}})},  //! narrow
                         {"full", plgpu::Barrier()}},
       .grid = {c.m / edge, c.n / edge},
       .name = "transpose"});
}

PALLADION_KERNELS(Spec("transpose", "out = x transposed", transpose)
                      .size("m", &Config::m, "rows of x")
                      .size("n", &Config::n, "columns of x")
                      .arrays({"x"}, {"out"}));
