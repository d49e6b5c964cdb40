#include <palladion/program.h>
using namespace palladion::program;

// How many sectors of 32 bytes does one load of a warp touch, when its 32 lanes load 16 bytes each from 32 rows?
// answer sectors: ?  //! not solution wrong-sectors column-vec1
// answer sectors: 32  //! solution column-vec1
// answer sectors: 16  //! wrong-sectors

struct Config {
  int64_t m = 512, n = 256;
};

constexpr int64_t rows = 128, columns = 64;

// 128 lanes, each with a row of its own; four neighbours of a row in a vector.
plgpu::Layout lanes_down_the_rows() {  //! starter
  return plgpu::Layout::TILED({{{128, 4}, {32, 4}, {1, 4}}}, {-6}, {-4}, -1);  //! starter
}  //! starter
// One column after another, a single element at a time.  //! column-vec1
plgpu::Layout lanes_down_the_rows() {  //! column-vec1
  return plgpu::Layout::TILED({{{128, 1}, {32, 1}, {1, 1}}}, {-6}, {-4}, -1);  //! column-vec1
}  //! column-vec1

plgpu::Kernel twice(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.m, c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out) {
        const auto r = pl::ds(pl::program_id(0) * rows, rows), k = pl::ds(pl::program_id(1) * columns, columns);
        const plgpu::Layout layout = lanes_down_the_rows();  // TODO  //! starter column-vec1
        const plgpu::Layout layout = plgpu::Layout::WG_STRIDED({rows, columns}, 4);  //! not starter column-vec1
        out.at(r, k).store(x.at(r, k).load(layout) * 2);
      },
      {.in_types = {type}, .out_type = type, .grid = {c.m / rows, c.n / columns}, .name = "twice"});
}

PALLADION_KERNELS(Spec("twice", "out = 2 x", twice)
                      .size("m", &Config::m, "rows")
                      .size("n", &Config::n, "columns")
                      .arrays({"x"}, {"out"}));
