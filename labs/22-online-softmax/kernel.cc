#include <palladion/program.h>

#include <numbers>
using namespace palladion::program;

// So far m = 3 and s = 2. The next tile has the elements 3 and 5, the logarithm is base 2: exp2 in place of exp.
// What is s afterwards?
// answer sum: ?  //! not solution
// answer sum: 1.75  //! solution

struct Config {
  int64_t rows = 4, n = 2048, tile = 128;
};

plgpu::Kernel softmax(const Config& c) {
  constexpr float log2e = std::numbers::log2e_v<float>;
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out) {
        const pl::Scalar row = pl::program_id(0);
        const auto tile = [&](const pl::Scalar& t) { return pl::ds(t * c.tile, c.tile); };
        // e^(y - m) for the elements of an array.
        const auto exponentials = [&](const plgpu::Array& y, const pl::Scalar& m) {
          return plgpu::exp2((y - m) * log2e);
        };
        // e^y of one number.
        const auto exponential = [&](const pl::Scalar& y) {
          return plgpu::exp2(plgpu::Array::splat(y * log2e, {128})).max_all();
        };
        const auto [m, s] = pl::fori_loop(
            0, c.n / c.tile,
            [&](const pl::Scalar& t, const pl::Scalar& m, const pl::Scalar& s) {
              const plgpu::Array y = x.at(row, tile(t)).load();
              const pl::Scalar next = pl::maximum(m, y.max_all());  //! not no-maximum
              const pl::Scalar next = m;  //! no-maximum
              const pl::Scalar sum = exponentials(y, next).sum_all();
              return std::tuple{next, s + sum};  // TODO  //! starter no-maximum
              return std::tuple{next, s * exponential(m - next) + sum};  //! solution
              return std::tuple{next, (s + sum) * exponential(m - next)};  //! both-scaled
              return std::tuple{next, s * exponential(next - m) + sum};  //! upside-down
            },
            pl::Scalar(-1e30F), pl::Scalar(0.0F));  //! not no-maximum
            pl::Scalar(0.0F), pl::Scalar(0.0F));  //! no-maximum
        const pl::Scalar largest = m, total = s;
        pl::fori_loop(0, c.n / c.tile, [&](const pl::Scalar& t) {
          out.at(row, tile(t)).store(exponentials(x.at(row, tile(t)).load(), largest) * (pl::Scalar(1.0F) / total));
        });
      },
      {.in_types = {{pl::f32, {c.rows, c.n}}},
       .out_type = {{pl::f32, {c.rows, c.n}}},
       .compiler_params = {.approx_math = true},
       .grid = {c.rows},
       .name = "softmax"});
}

PALLADION_KERNELS(Spec("softmax", "out = softmax of each row", softmax)
                      .size("rows", &Config::rows, "rows")
                      .size("n", &Config::n, "elements of a row")
                      .setting("tile", &Config::tile, "elements a step")
                      .arrays({"x"}, {"out"}));
