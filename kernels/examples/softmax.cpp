#include "kernels/examples/softmax.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/frame/helpers.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/specs.h"

namespace palladion::kernels {
namespace {

void check(const Softmax& c) {
  const Rules rules("softmax");
  rules.row(c.n);
  rules.require(c.rows >= 1 && c.rows <= 8, fmt::format("rows={} must be 1 to 8", c.rows));
  rules.multiple("m", c.m, "rows", c.rows);
}

// e^(x - max) as a power of two: one fma and one instruction of the special function unit an element.
plgpu::Array normalised(const plgpu::Array& x) {
  const pl::Scalar highest = x.max_all() * std::numbers::log2e_v<float>;
  const plgpu::Array powers = plgpu::exp2(plgpu::fma(x, std::numbers::log2e_v<float>, -highest));
  return powers * (pl::Scalar(1.0F) / powers.sum_all());
}

Softmax config_of(const Choice& choice) {
  return {.m = choice.size("m"),
          .n = choice.size("n"),
          .dtype = choice.dtype("dtype"),
          .rows = choice.number("rows"),
          .profile = choice.flag("profile")};
}

std::vector<Array> reference(const Choice& choice, const std::vector<Array>& inputs) {
  std::vector<double> x = to_doubles(inputs[0]);
  const auto n = static_cast<std::ptrdiff_t>(choice.size("n"));
  for (auto row = x.begin(); row != x.end(); row += n) {
    const double highest = *std::max_element(row, row + n);
    double sum = 0;
    std::for_each(row, row + n, [&](double& v) { sum += v = std::exp(v - highest); });
    std::for_each(row, row + n, [&](double& v) { v /= sum; });
  }
  return {from_doubles(inputs[0].type, x)};
}

}  // namespace

plgpu::Kernel softmax(const Softmax& c) {
  check(c);
  const pl::ShapeDtype type{c.dtype, {c.m, c.n}};
  return plgpu::kernel(
      [&](const Ref& x, const Ref& out) {
        const pl::Scalar row = pl::program_id(0) * c.rows + pl::axis_index("row");
        const plgpu::Array v = plgpu::profile_scope("load", [&] { return x.at(row).load().astype(pl::f32); });
        const plgpu::Array y =
            plgpu::profile_scope("normalise", [&] { return normalised(v).astype(c.dtype); });
        plgpu::profile_scope("store", [&] { out.at(row).store(y); });
      },
      {.in_types = type,
       .out_type = type,
       .compiler_params = {.approx_math = true, .profile_space = c.profile ? 6 : 0},
       .grid = {c.m / c.rows},
       .num_threads = static_cast<int>(c.rows),
       .thread_name = "row",
       .name = "softmax"});
}

KernelSpec softmax_spec() {
  KernelSpec spec = spec_of("softmax", "The softmax of each row, a warpgroup a row", {"x"}, {"y"});
  spec.sizes = {{"m", 4096, "rows"}, {"n", 4096, "columns: at most 8192"}};
  spec.settings = {{"dtype", "f32", "of both arrays", {"f32", "f16", "bf16"}},
                   {"rows", "1", "warpgroups of a CTA, each with its row", {}},
                   profile_setting()};
  spec.build = [](const Choice& choice) { return softmax(config_of(choice)); };
  spec.make_inputs = [](const Choice& choice, uint64_t seed) {
    return normal_inputs({{choice.dtype("dtype"), {choice.size("m"), choice.size("n")}}}, seed);
  };
  spec.reference = reference;
  spec.tolerance = [](const Choice& choice) { return row_tolerance(choice.dtype("dtype")); };
  return spec;
}

}  // namespace palladion::kernels
