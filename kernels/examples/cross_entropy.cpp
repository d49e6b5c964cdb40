#include "kernels/examples/cross_entropy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/examples/rows.h"
#include "kernels/frame/helpers.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/specs.h"
#include "kernels/frame/typed_spec.h"

namespace palladion::kernels {
namespace {

constexpr float log2e = std::numbers::log2e_v<float>;

void check(const CrossEntropy& c) {
  const Rules rules("cross_entropy");
  rules.at_least("m", c.m, 1);
  rules.at_least("n", c.n, 1);
  rules.require(c.tile >= 128 && c.tile % 128 == 0 && c.tile <= 8192,
                fmt::format("tile={} must be a multiple of 128, at most 8192", c.tile));
}

// Of the elements so far: the largest one times log2 e, and the sum of the powers of two relative to it.
using Sums = std::tuple<Scalar, Scalar>;

struct Body {
  const CrossEntropy& c;
  Ref x, gradient;  // a row of each

  Sums add(const pl::Slice& part, const Sums& before) const {
    const auto& [largest_before, sum_before] = before;
    const plgpu::Array v = load_part(x, c.n, part).astype(pl::f32);
    const Scalar largest = pl::maximum(largest_before, v.max_all() * log2e);
    const Scalar sum = plgpu::exp2(plgpu::fma(v, log2e, -largest)).sum_all();
    return {largest, sum_before * exp2(largest_before - largest) + sum};
  }
  Sums sums() const {
    const Sums none{Scalar::constant(pl::f32, std::numeric_limits<float>::lowest()),
                    Scalar::constant(pl::f32, 0.0)};
    return over_row(c.n, c.tile, [&](const pl::Slice& part, const Sums& s) { return add(part, s); }, none);
  }

  void differentiate(const Sums& sums, const Scalar& label, const Scalar& counts) const {
    const auto& [largest, sum] = sums;
    const Scalar scale = pl::where(counts, Scalar(1.0F) / sum, 0.0F);
    for_parts(c.n, c.tile, [&](const pl::Slice& part) {
      const plgpu::Array v = load_part(x, c.n, part).astype(pl::f32);
      const plgpu::Array share = plgpu::exp2(plgpu::fma(v, log2e, -largest)) * scale;
      const plgpu::Array number = plgpu::broadcasted_iota(pl::s32, {part.size}, 0, v.layout()) + part.start;
      const plgpu::Array less = plgpu::where(number == label, pl::where(counts, 1.0F, 0.0F), 0.0F);
      gradient.at(part).store((share - less).astype(c.dtype));
    });
  }
};

void row(const CrossEntropy& c, const Ref& logits, const Ref& labels, const Ref& loss, const Ref& gradient) {
  const Scalar number = pl::program_id(0);
  const Body body{.c = c, .x = logits.at(number), .gradient = gradient.at(number)};
  const Scalar label = labels.at(number).load_scalar();
  const Scalar counts = label >= 0 && label < c.n;
  const Scalar class_of_row = pl::minimum(pl::maximum(label, 0), c.n - 1);
  const Sums sums = body.sums();
  const auto& [largest, sum] = sums;
  const Scalar chosen = body.x.at(class_of_row).load_scalar().astype(pl::f32);
  const Scalar value = log(sum) + (largest * (1 / log2e) - chosen);
  loss.at(number).store(pl::where(counts, value, 0.0F));
  body.differentiate(sums, label, counts);
}

std::vector<Array> reference(const CrossEntropy& c, const std::vector<Array>& inputs) {
  std::vector<double> x = to_doubles(inputs[0]), loss;
  const std::vector<double> labels = to_doubles(inputs[1]);
  for (size_t r = 0; r < labels.size(); ++r) {
    const auto row = x.begin() + static_cast<std::ptrdiff_t>(r) * c.n;
    const bool counts = labels[r] >= 0 && labels[r] < double(c.n);
    const double largest = *std::max_element(row, row + c.n);
    const double chosen = counts ? row[static_cast<std::ptrdiff_t>(labels[r])] : 0;
    double sum = 0;
    std::for_each(row, row + c.n, [&](double& v) { sum += v = std::exp(v - largest); });
    loss.push_back(counts ? std::log(sum) + largest - chosen : 0);
    std::for_each(row, row + c.n, [&](double& v) { v = counts ? v / sum : 0; });
    if (counts) row[static_cast<std::ptrdiff_t>(labels[r])] -= 1;
  }
  return {from_doubles({pl::f32, {c.m}}, loss), from_doubles(inputs[0].type, x)};
}

// Labels of which the second one is no class.
std::vector<Array> make_inputs(const CrossEntropy& c, uint64_t seed) {
  std::vector<Array> in = normal_inputs({{c.dtype, {c.m, c.n}}}, 2 * seed);
  in.push_back(
      filled({pl::s32, {c.m}}, {.kind = Fill::Kind::randint, .seed = 2 * seed + 1, .low = 0, .high = c.n}));
  if (c.m > 1) set_value(in[1], 1, -100);
  return in;
}

}  // namespace

plgpu::Kernel cross_entropy(const CrossEntropy& c) {
  check(c);
  const pl::ShapeDtype type{c.dtype, {c.m, c.n}};
  return plgpu::kernel([&](const Ref& logits, const Ref& labels, const Ref& loss,
                           const Ref& gradient) { row(c, logits, labels, loss, gradient); },
                       {.in_types = {type, {pl::s32, {c.m}}},
                        .out_type = {{pl::f32, {c.m}}, type},
                        .compiler_params = {.approx_math = true},
                        .grid = {c.m},
                        .name = "cross_entropy"});
}

KernelSpec cross_entropy_spec() {
  using C = CrossEntropy;
  KernelSpec spec =
      Spec("cross_entropy", "Softmax with cross entropy: the loss of each row, and its gradient",
           cross_entropy)
          .size("m", &C::m, "rows")
          .size("n", &C::n, "classes")
          .setting("dtype", &C::dtype, "of logits and gradient", {pl::f32, pl::f16, pl::bf16})
          .setting("tile", &C::tile, "classes of a part", {.min = 128, .max = 8192, .multiple_of = 128})
          .arrays({"logits", "labels"}, {"loss", "gradient"})
          .inputs(make_inputs)
          .reference(reference);
  // The gradient at the label is a difference from 1, the loss one of numbers up to some 16.
  spec.tolerance = [](const Choice& choice) { return row_tolerance(choice.dtype("dtype"), 16); };
  return spec;
}

}  // namespace palladion::kernels
