#include "kernels/vector_add.h"

#include <fmt/format.h>

#include "isa/core/diagnostic.h"
#include "kernels/specs.h"

namespace palladion::kernels {
namespace {

using plgpu::Ref;

VectorAdd config_of(const Choice& choice) {
  return {.n = choice.size("n"), .dtype = choice.dtype("dtype"), .tile = choice.number("tile")};
}

// The sum of two f16 or bf16 numbers is exact in f64 and rounded once, as the chip's is.
std::vector<Array> reference(const Choice&, const std::vector<Array>& inputs) {
  std::vector<double> sum = to_doubles(inputs[0]);
  const std::vector<double> b = to_doubles(inputs[1]);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  return {from_doubles(inputs[0].type, sum)};
}

}  // namespace

plgpu::Kernel vector_add(const VectorAdd& config) {
  if (config.tile <= 0 || config.n % config.tile != 0)
    throw isa::Error(isa::Diagnostic{
        .code = "PLD5001",
        .message = fmt::format("vector_add: tile={} does not divide n={}", config.tile, config.n)});
  const pl::ShapeDtype type{config.dtype, {config.n}};
  return plgpu::kernel(
      [=](const Ref& a, const Ref& b, const Ref& out) {
        const auto tile = pl::ds(pl::program_id(0) * config.tile, config.tile);
        out.at(tile).store(a.at(tile).load() + b.at(tile).load());
      },
      {.in_types = {type, type}, .out_type = type, .grid = {config.n / config.tile}, .name = "vector_add"});
}

KernelSpec vector_add_spec() {
  KernelSpec spec;
  spec.name = "vector_add";
  spec.doc = "out = a + b, one tile a CTA";
  spec.sizes = {{"n", 1 << 20, "elements"}};
  spec.settings = {{"dtype", "f32", "of all three arrays", {"f32", "f16", "bf16", "s32"}},
                   {"tile", "1024", "elements a CTA", {}}};
  spec.inputs = {"a", "b"};
  spec.outputs = {"out"};
  spec.build = [](const Choice& choice) { return vector_add(config_of(choice)); };
  spec.make_inputs = [](const Choice& choice, uint64_t seed) {
    const pl::ShapeDtype type{choice.dtype("dtype"), {choice.size("n")}};
    return std::vector<Array>{filled(type, {.kind = Fill::Kind::randn, .seed = 2 * seed}),
                              filled(type, {.kind = Fill::Kind::randn, .seed = 2 * seed + 1})};
  };
  spec.reference = reference;
  return spec;
}

}  // namespace palladion::kernels
