#include "kernels/examples/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "kernels/frame/helpers.h"
#include "kernels/frame/specs.h"

namespace palladion::kernels {
namespace {

void check(const Histogram& c) {
  const Rules rules("histogram");
  rules.require(c.bins >= 128 && c.bins <= 8192 && std::has_single_bit(static_cast<uint64_t>(c.bins)),
                fmt::format("bins={} must be a power of two, 128 to 8192", c.bins));
  rules.require(c.tile > 0 && c.tile % 128 == 0, fmt::format("tile={} must be a multiple of 128", c.tile));
  rules.multiple("n", c.n, "tile", c.tile);
  rules.at_least("ctas", c.ctas, 1);
}

int64_t ctas_of(const Histogram& c) { return std::min(c.ctas, c.n / c.tile); }
int shift_of(const Histogram& c) { return 32 - std::countr_zero(static_cast<uint64_t>(c.bins)); }

plgpu::Array bins_of(const Histogram& c, const plgpu::Array& x) {
  if (c.dtype == pl::u32) return (x >> shift_of(c)).astype(pl::s32);
  return plgpu::minimum((x * static_cast<float>(c.bins)).astype(pl::s32), c.bins - 1);
}

void count(const Histogram& c, const Ref& x, const Ref& out, const Ref& counts) {
  counts.store(plgpu::zeros({c.bins}, pl::s32));
  const Scalar first = pl::axis_index("cta");
  const plgpu::Array one = plgpu::full({c.tile}, 1, pl::s32);
  pl::fori_loop(0, (c.n / c.tile - 1 - first) / ctas_of(c) + 1, [&](const Scalar& step) {
    const Scalar tile = first + step * ctas_of(c);
    plgpu::atomic_add(counts, bins_of(c, x.at(ds(tile * c.tile, c.tile)).load()), one);
  });
  plgpu::commit_smem();  // every warp has counted
  plgpu::atomic_add(out, counts.load());
}

Histogram config_of(const Choice& choice) {
  return {.n = choice.size("n"),
          .dtype = choice.dtype("dtype"),
          .bins = choice.number("bins"),
          .tile = choice.number("tile"),
          .ctas = choice.number("ctas")};
}

std::vector<Array> make_inputs(const Choice& choice, uint64_t seed) {
  const Histogram c = config_of(choice);
  return {filled({c.dtype, {c.n}}, {.kind = Fill::Kind::rand, .seed = seed}),
          filled({pl::s32, {c.bins}}, {.kind = Fill::Kind::iota})};
}

std::vector<Array> reference(const Choice& choice, const std::vector<Array>& inputs) {
  const Histogram c = config_of(choice);
  std::vector<double> counts = to_doubles(inputs[1]);
  if (c.dtype == pl::u32) {
    for (const uint32_t v : inputs[0].as<uint32_t>()) counts[v >> shift_of(c)] += 1;
  } else {
    for (const float v : inputs[0].as<float>())
      counts[std::min(static_cast<size_t>(v * static_cast<float>(c.bins)), counts.size() - 1)] += 1;
  }
  return {from_doubles(inputs[1].type, counts)};
}

}  // namespace

plgpu::Kernel histogram(const Histogram& c) {
  check(c);
  const pl::ShapeDtype counts{pl::s32, {c.bins}};
  plgpu::KernelOptions o = grid_of("histogram", ctas_of(c));
  o.in_types = {{c.dtype, {c.n}}, counts};
  o.out_type = counts;
  o.scratch_types = {{"counts", plgpu::SMEM({c.bins}, pl::s32)}};
  o.input_output_aliases = {{1, 0}};
  return plgpu::kernel(
      [&](const Ref& x, const Ref&, const Ref& out, plgpu::Scratch& s) { count(c, x, out, s["counts"]); }, o);
}

KernelSpec histogram_spec() {
  KernelSpec spec =
      spec_of("histogram", "How often each bin occurs: atomics in shared memory, then in global memory",
              {"x", "start"}, {"counts"});
  spec.sizes = {{"n", 1 << 24, "values"}};
  spec.settings = {{"dtype", "u32", "of the values", {"u32", "f32"}},
                   {"bins", "256", "a power of two, 128 to 8192", {}},
                   {"tile", "2048", "elements a CTA loads at a time", {}},
                   ctas_setting("ctas", 4, "of the persistent grid")};
  spec.build = [](const Choice& choice) { return histogram(config_of(choice)); };
  spec.make_inputs = make_inputs;
  spec.reference = reference;
  return spec;
}

}  // namespace palladion::kernels
