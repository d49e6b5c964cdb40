#include "kernels/examples/layer_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/examples/rows.h"
#include "kernels/frame/helpers.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/specs.h"
#include "kernels/frame/typed_spec.h"

namespace palladion::kernels {
namespace {

constexpr int64_t part = 1024;  // elements for which weight and bias are in registers at a time

void check(const LayerNorm& c) {
  const Rules rules("layer_norm");
  rules.at_least("m", c.m, 1);
  rules.row(c.n);
}

// A row in parts; the last one may have fewer elements.
using Parts = std::vector<plgpu::Array>;

Scalar sum_of(const Parts& parts) {
  plgpu::Array sum = parts.front();
  for (size_t i = 1; i + 1 < parts.size(); ++i) sum = sum + parts[i];
  if (parts.size() == 1) return sum.sum_all();
  if (parts.back().shape() == sum.shape()) return (sum + parts.back()).sum_all();
  return sum.sum_all() + parts.back().sum_all();
}

struct Body {
  const LayerNorm& c;
  Ref x, weight, bias, y, mean, rstd;

  // Calls f(number, slice) for each part of a row.
  template <class F>
  void for_parts(const F& f) const {
    for (int64_t i = 0; i * part < c.n; ++i) f(size_t(i), ds(i * part, std::min(part, c.n - i * part)));
  }

  void run() const {
    const Scalar row = pl::axis_index("cta");
    const float share = 1.0F / static_cast<float>(c.n);
    Parts d, squares;
    for_parts(
        [&](size_t, const pl::Slice& at) { d.push_back(load_part(x.at(row), c.n, at).astype(pl::f32)); });
    const Scalar middle = sum_of(d) * share;
    // Of the differences: squares of the values themselves would cancel.
    for (plgpu::Array& v : d) squares.push_back((v = v - middle) * v);
    const Scalar variance = sum_of(squares) * share;
    const Scalar root = rsqrt(variance + c.epsilon);
    // Weight and bias come part by part behind the sums: earlier they would take registers, and with these
    // other rows on their way.
    for_parts([&](size_t i, const pl::Slice& at) {
      const plgpu::Array w = load_part(weight, c.n, at).astype(pl::f32),
                         b = load_part(bias, c.n, at).astype(pl::f32);
      y.at(row, at).store(plgpu::fma(d[i] * root, w, b).astype(c.dtype));
    });
    mean.at(row).store(middle);
    rstd.at(row).store(root);
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
  plgpu::KernelOptions o = grid_of("layer_norm", c.m);
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
          .size("n", &C::n, "columns", {.max = 8192})
          .setting("dtype", &C::dtype, "of x, weight, bias and y", {pl::f32, pl::f16, pl::bf16})
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
