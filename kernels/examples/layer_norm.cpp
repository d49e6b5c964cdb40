#include "kernels/examples/layer_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/frame/helpers.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/specs.h"
#include "kernels/frame/typed_spec.h"

namespace palladion::kernels {
namespace {

constexpr int64_t longest = 8192;  // 64 elements a lane

void check(const LayerNorm& c) {
  const Rules rules("layer_norm");
  rules.at_least("m", c.m, 1);
  rules.require(c.n >= 1 && c.n <= longest, fmt::format("n={} must be 1 to {}", c.n, longest));
  rules.at_least("ctas", c.ctas, 1);
}

struct Body {
  const LayerNorm& c;
  Ref x, weight, bias, y, mean, rstd;

  int64_t ctas() const { return std::min(c.ctas, c.m); }

  void normalise(const Scalar& row, const plgpu::Array& values) const {
    const float share = 1.0F / static_cast<float>(c.n);
    // Loaded before the sums, which wait for the row.
    const plgpu::Array w = weight.load(), b = bias.load();
    const plgpu::Array v = values.astype(pl::f32);
    const Scalar middle = v.sum_all() * share;
    // Of the differences: squares of the values themselves would cancel.
    const plgpu::Array d = v - middle;
    const Scalar variance = (d * d).sum_all() * share;
    const Scalar root = plgpu::rsqrt(plgpu::Array::splat(variance + c.epsilon, {})).scalar();
    y.at(row).store(plgpu::fma(d * root, w.astype(pl::f32), b.astype(pl::f32)).astype(c.dtype));
    mean.at(row).store(middle);
    rstd.at(row).store(root);
  }

  // A lane has registers for the next row, which comes while this one is computed.
  bool has_room() const { return c.n * pl::bytes(c.dtype) <= 16384; }

  void run() const {
    const Scalar first = pl::axis_index("cta"), steps = (c.m - 1 - first) / ctas() + 1;
    const auto row = [&](const Scalar& step) { return first + step * ctas(); };
    if (ctas() == c.m) return normalise(first, x.at(first).load());
    if (!has_room())
      return pl::fori_loop(0, steps, [&](const Scalar& i) { normalise(row(i), x.at(row(i)).load()); });
    pl::fori_loop(
        0, steps,
        [&](const Scalar& step, const plgpu::Array& values) {
          // Behind the last row, the last one of all again.
          const plgpu::Array next = x.at(pl::minimum(row(step + 1), c.m - 1)).load();
          normalise(row(step), values);
          return next;
        },
        x.at(first).load());
  }
};

std::vector<Array> reference(const LayerNorm& c, const std::vector<Array>& inputs) {
  std::vector<double> x = to_doubles(inputs[0]), means, roots;
  const std::vector<double> weight = to_doubles(inputs[1]), bias = to_doubles(inputs[2]);
  const auto count = static_cast<double>(c.n);
  for (size_t row = 0; row < x.size(); row += weight.size()) {
    double sum = 0, squares = 0;
    for (size_t j = 0; j < weight.size(); ++j) sum += x[row + j];
    const double mean = sum / count;
    for (size_t j = 0; j < weight.size(); ++j) squares += (x[row + j] - mean) * (x[row + j] - mean);
    const double root = 1 / std::sqrt(squares / count + c.epsilon);
    for (size_t j = 0; j < weight.size(); ++j) x[row + j] = (x[row + j] - mean) * root * weight[j] + bias[j];
    means.push_back(mean);
    roots.push_back(root);
  }
  return {from_doubles(inputs[0].type, x), from_doubles({pl::f32, {c.m}}, means),
          from_doubles({pl::f32, {c.m}}, roots)};
}

}  // namespace

plgpu::Kernel layer_norm(const LayerNorm& c) {
  check(c);
  const pl::ShapeDtype type{c.dtype, {c.m, c.n}}, column{c.dtype, {c.n}}, row{pl::f32, {c.m}};
  plgpu::KernelOptions o = grid_of("layer_norm", std::min(c.ctas, c.m));
  o.in_types = {type, column, column};
  o.out_type = {type, row, row};
  o.compiler_params.approx_math = true;
  return plgpu::kernel(
      [&](const Ref& x, const Ref& weight, const Ref& bias, const Ref& y, const Ref& mean, const Ref& rstd) {
        Body{.c = c, .x = x, .weight = weight, .bias = bias, .y = y, .mean = mean, .rstd = rstd}.run();
      },
      o);
}

KernelSpec layer_norm_spec() {
  using C = LayerNorm;
  KernelSpec spec =
      Spec("layer_norm", "Each row less its mean, over its deviation, times a weight, plus a bias",
           layer_norm)
          .size("m", &C::m, "rows")
          .size("n", &C::n, "columns", {.max = longest})
          .setting("dtype", &C::dtype, "of x, weight, bias and y", {pl::f32, pl::f16, pl::bf16})
          .ctas("ctas", &C::ctas, 4, "of the persistent grid")
          .setting("epsilon", &C::epsilon, "added to the variance", RealRange{.min = 0, .max = 1})
          .arrays({"x", "weight", "bias"}, {"y", "mean", "rstd"})
          .inputs([](const C& c, uint64_t seed) {
            return normal_inputs({{c.dtype, {c.m, c.n}}, {c.dtype, {c.n}}, {c.dtype, {c.n}}}, 3 * seed);
          })
          .reference(reference);
  spec.tolerance = [](const Choice& choice) { return row_tolerance(choice.dtype("dtype"), 4); };
  return spec;
}

}  // namespace palladion::kernels
