#include "kernels/hopper/matmul.h"

#include "kernels/frame/reference.h"

namespace palladion::kernels {
namespace {

pl::DType out_dtype(const Choice& choice) {
  return choice.settings.contains("out_dtype") ? choice.dtype("out_dtype") : pl::f32;
}

}  // namespace

plgpu::Transforms wgmma_tiles(pl::DType dtype, int64_t minor, std::source_location loc) {
  const int64_t swizzle = plgpu::find_swizzle(minor * pl::bits(dtype), "", loc);
  return {plgpu::TilingTransform({8, swizzle * 8 / pl::bits(dtype)}), plgpu::SwizzleTransform(swizzle)};
}

plgpu::SmemType tiled_smem(pl::Shape shape, pl::DType dtype, std::source_location loc) {
  plgpu::Transforms tiles = wgmma_tiles(dtype, shape.back(), loc);
  return plgpu::SMEM(std::move(shape), dtype, {.transforms = std::move(tiles)}, loc);
}

KernelSpec matmul_spec(std::string name, std::string doc, int64_t mn, int64_t k) {
  KernelSpec spec = spec_of(std::move(name), std::move(doc), {"a", "b"}, {"d"});
  spec.sizes = {
      {"m", mn, "rows of A and D"}, {"n", mn, "columns of B and D"}, {"k", k, "columns of A, rows of B"}};
  spec.make_inputs = [](const Choice& c, uint64_t seed) {
    const pl::DType dtype = c.dtype("dtype");
    return normal_inputs({{dtype, {c.size("m"), c.size("k")}}, {dtype, {c.size("k"), c.size("n")}}},
                         2 * seed);
  };
  spec.reference = [](const Choice& c, const std::vector<Array>& inputs) {
    return std::vector{matmul_reference(inputs[0], false, inputs[1], false, nullptr, out_dtype(c))};
  };
  spec.tolerance = [](const Choice& c) {
    return matmul_tolerance(c.dtype("dtype"), out_dtype(c), c.size("k"));
  };
  return spec;
}

}  // namespace palladion::kernels
