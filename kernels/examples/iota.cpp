#include "kernels/examples/iota.h"

#include "kernels/frame/helpers.h"
#include "kernels/frame/specs.h"

namespace palladion::kernels {
namespace {

Iota config_of(const Choice& choice) {
  return {.n = choice.size("n"), .dtype = choice.dtype("dtype"), .tile = choice.number("tile")};
}

}  // namespace

plgpu::Kernel iota(const Iota& config) {
  Rules("iota").divides("tile", config.tile, "n", config.n);
  return plgpu::kernel(
      [=](const Ref& out) {
        const pl::Scalar first = pl::axis_index("x") * config.tile;
        if (config.tile == 1) {
          out.at(first).store(first.astype(config.dtype));
          return;
        }
        const plgpu::Layout layout = plgpu::default_layout({config.tile}, config.dtype);
        const plgpu::Array steps = plgpu::broadcasted_iota(pl::s32, {config.tile}, 0, layout);
        out.at(pl::ds(first, config.tile)).store((steps + first).astype(config.dtype));
      },
      {.out_type = pl::ShapeDtype{config.dtype, {config.n}},
       .grid = {config.n / config.tile},
       .grid_names = {"x"},
       .name = "iota"});
}

KernelSpec iota_spec() {
  KernelSpec spec = spec_of("iota", "out[i] = i, one tile a CTA", {}, {"out"});
  spec.sizes = {{"n", 1 << 20, "elements"}};
  spec.settings = {{"dtype", "s32", "of the output", {"s32", "u32", "f32", "f16"}},
                   {"tile", "1024", "elements a CTA; 1: one program an element", {}}};
  spec.build = [](const Choice& choice) { return iota(config_of(choice)); };
  spec.make_inputs = [](const Choice&, uint64_t) { return std::vector<Array>{}; };
  spec.reference = [](const Choice& choice, const std::vector<Array>&) {
    return std::vector<Array>{
        filled({choice.dtype("dtype"), {choice.size("n")}}, {.kind = Fill::Kind::iota})};
  };
  return spec;
}

}  // namespace palladion::kernels
