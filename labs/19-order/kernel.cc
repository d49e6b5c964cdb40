#include <palladion/program.h>
using namespace palladion::program;

// 64 x 64 tiles, 132 at a time, bands of 8 columns.
// How many panels of A and of B does the first wave need together (complete rows and a part of one more)?
// answer panels: ?  //! not solution
// answer panels: 25  //! solution
// A grid of 200 CTAs on 132 SMs, one CTA an SM, all equally long: how many percent of the SMs' time are used?
// answer percent: ?  //! not solution
// answer percent: 76  //! solution

struct Config {
  int64_t rows = 12, columns = 16, ctas = 132;
};

constexpr int64_t band = 8;

plgpu::Kernel order(const Config& c) {
  const int64_t tiles = c.rows * c.columns, ctas = std::min(c.ctas, tiles);
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out) {
        const pl::Scalar first = pl::program_id(0);
        pl::fori_loop(0, (tiles - 1 - first) / ctas + 1, [&](const pl::Scalar& step) {
          const pl::Scalar i = first + step * ctas;
          const pl::Scalar row = i / c.columns, column = i % c.columns;  // TODO  //! starter
          const pl::Scalar in_band = i % (c.rows * band);  //! solution
          const pl::Scalar row = in_band / band, column = i / (c.rows * band) * band + in_band % band;  //! solution
          const pl::Scalar row = i % c.rows, column = i / c.rows;  //! by-columns
          const pl::Scalar row = i / band % c.rows, column = i / (c.rows * band) + i % band;  //! band-not-scaled
          out.at(i).store(x.at(row, column).load_scalar());
        });
      },
      {.in_types = {{pl::f32, {c.rows, c.columns}}},
       .out_type = {{pl::f32, {tiles}}},
       .grid = {ctas},
       .name = "order"});
}

PALLADION_KERNELS(Spec("order", "out[i] = x of the i-th tile", order)
                      .size("rows", &Config::rows, "rows of tiles")
                      .size("columns", &Config::columns, "columns of tiles, a multiple of 8")
                      .setting("ctas", &Config::ctas, "CTAs of the persistent grid")
                      .arrays({"x"}, {"out"}));
