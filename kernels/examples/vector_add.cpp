#include "kernels/examples/vector_add.h"

#include "kernels/frame/helpers.h"
#include "kernels/frame/specs.h"

namespace palladion::kernels {
namespace {

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
  Rules("vector_add").divides("tile", config.tile, "n", config.n);
  const pl::ShapeDtype type{config.dtype, {config.n}};
  return plgpu::kernel(
      [=](const Ref& a, const Ref& b, const Ref& out) {
        const auto tile = pl::ds(pl::program_id(0) * config.tile, config.tile);
        out.at(tile).store(a.at(tile).load() + b.at(tile).load());
      },
      {.in_types = {type, type}, .out_type = type, .grid = {config.n / config.tile}, .name = "vector_add"});
}

KernelSpec vector_add_spec() {
  KernelSpec spec = spec_of("vector_add", "out = a + b, one tile a CTA", {"a", "b"}, {"out"});
  spec.sizes = {{"n", 1 << 20, "elements"}};
  spec.settings = {{"dtype", "f32", "of all three arrays", {"f32", "f16", "bf16", "s32"}},
                   {"tile", "1024", "elements a CTA", {}}};
  spec.build = [](const Choice& choice) { return vector_add(config_of(choice)); };
  spec.make_inputs = [](const Choice& choice, uint64_t seed) {
    const pl::ShapeDtype type{choice.dtype("dtype"), {choice.size("n")}};
    return normal_inputs({type, type}, 2 * seed);
  };
  spec.reference = reference;
  return spec;
}

}  // namespace palladion::kernels
