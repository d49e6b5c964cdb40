#include "kernels/examples/reduce_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kernels/frame/helpers.h"
#include "kernels/frame/specs.h"

namespace palladion::kernels {
namespace {

void check(const ReduceSum& c) {
  const Rules rules("reduce_sum");
  rules.require(c.tile > 0 && c.tile % 128 == 0, fmt::format("tile={} must be a multiple of 128", c.tile));
  rules.multiple("n", c.n, "tile", c.tile);
  rules.at_least("ctas", c.ctas, 1);
}

int64_t ctas_of(const ReduceSum& c) { return std::min(c.ctas, c.n / c.tile); }

Scalar sum_of_cta(const ReduceSum& c, const Ref& x) {
  const Scalar first = pl::axis_index("cta");
  const auto load = [&](const Scalar& tile) { return x.at(ds(tile * c.tile, c.tile)).load(); };
  const Scalar steps = (c.n / c.tile - 1 - first) / ctas_of(c) + 1;
  return pl::fori_loop(
             1, steps,
             [&](const Scalar& step, const plgpu::Array& sums) {
               return sums + load(first + step * ctas_of(c));
             },
             load(first))
      .sum_all();
}

ReduceSum config_of(const Choice& choice) {
  return {.n = choice.size("n"),
          .dtype = choice.dtype("dtype"),
          .tile = choice.number("tile"),
          .ctas = choice.number("ctas")};
}

// Small integers: every partial sum is exact in f32, so that the order of additions leaves no trace.
std::vector<Array> make_inputs(const Choice& choice, uint64_t seed) {
  const ReduceSum c = config_of(choice);
  const auto integers = [&](int64_t n, uint64_t s) {
    return filled({c.dtype, {n}}, {.kind = Fill::Kind::randint, .seed = s, .low = -8, .high = 9});
  };
  return {integers(c.n, 2 * seed), integers(1, 2 * seed + 1)};
}

std::vector<Array> reference(const Choice&, const std::vector<Array>& inputs) {
  const std::vector<double> x = to_doubles(inputs[0]);
  const double sum = std::accumulate(x.begin(), x.end(), value_at(inputs[1], 0));
  return {from_doubles(inputs[1].type, std::vector{sum})};
}

}  // namespace

plgpu::Kernel reduce_sum(const ReduceSum& c) {
  check(c);
  const pl::ShapeDtype one{c.dtype, {1}};
  plgpu::KernelOptions o = grid_of("reduce_sum", ctas_of(c));
  o.in_types = {{c.dtype, {c.n}}, one};
  o.out_type = one;
  o.input_output_aliases = {{1, 0}};
  return plgpu::kernel(
      [&](const Ref& x, const Ref&, const Ref& out) { plgpu::atomic_add(out.at(0), sum_of_cta(c, x)); }, o);
}

KernelSpec reduce_sum_spec() {
  KernelSpec spec =
      spec_of("reduce_sum", "The sum of an array: by lanes, by warpgroups, by one atomic addition a CTA",
              {"x", "start"}, {"sum"});
  spec.sizes = {{"n", 1 << 24, "elements"}};
  spec.settings = {{"dtype", "f32", "of all arrays", {"f32", "s32"}},
                   {"tile", "4096", "elements a CTA loads at a time", {}},
                   ctas_setting("ctas", 4, "of the persistent grid")};
  spec.build = [](const Choice& choice) { return reduce_sum(config_of(choice)); };
  spec.make_inputs = make_inputs;
  spec.reference = reference;
  return spec;
}

}  // namespace palladion::kernels
