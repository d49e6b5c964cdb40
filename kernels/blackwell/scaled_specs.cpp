// The specs of products with scales: formats, inputs, reference.
#include <cmath>

#include "kernels/blackwell/matmul_scaled.h"
#include "kernels/frame/reference.h"
#include "verify/arrays/tensor_core.h"

namespace palladion::kernels::blackwell {
namespace {

struct Format {
  const char* name;
  const char* doc;
  ScaledConfig defaults;
};

const Format mxfp8 = {
    "blackwell_matmul_mxfp8",
    "D = A B^T on Blackwell: e4m3 or e5m2, a scale (a power of two) for each 32 elements of K",
    {}};
const Format nvfp4 = {
    "blackwell_matmul_nvfp4",
    "D = A B^T on Blackwell: e2m1, two a byte, a scale (e4m3) for each 16 elements of K",
    {.a_dtype = pl::e2m1, .b_dtype = pl::e2m1, .scale_dtype = pl::e4m3, .block = 16, .tile_k = 256}};

ScaledConfig config_of(const Format& format, const Choice& choice) {
  ScaledConfig c = format.defaults;
  c.m = choice.size("m");
  c.n = choice.size("n");
  c.k = choice.size("k");
  if (choice.settings.contains("a_dtype")) {
    c.a_dtype = choice.dtype("a_dtype");
    c.b_dtype = choice.dtype("b_dtype");
  }
  c.out_dtype = choice.dtype("out_dtype");
  c.ctas = choice.number("ctas");
  c.tile_n = choice.number("tile_n");
  c.tile_k = choice.number("tile_k");
  c.stages = choice.number("stages");
  c.epilogue_tile_n = choice.number("epilogue_tile_n");
  return c;
}

std::vector<Setting> settings_of(const Format& format) {
  std::vector<Setting> settings;
  if (format.defaults.a_dtype != pl::e2m1) {
    settings.push_back({"a_dtype", "e4m3", "of A", {"e4m3", "e5m2"}});
    settings.push_back({"b_dtype", "e4m3", "of B", {"e4m3", "e5m2"}});
  }
  settings.push_back({"out_dtype", "bf16", "of D", {"f16", "bf16", "f32"}});
  settings.push_back({"ctas", "2", "CTAs that compute one product", {"1", "2"}});
  settings.push_back({"tile_n", "128", "columns of a CTA's tile", {"64", "128", "256"}});
  settings.push_back({"tile_k", std::to_string(format.defaults.tile_k), "depth of a step", {}});
  settings.push_back({"stages", "4", "tiles of A, B and their scales on their way", {}});
  settings.push_back({"epilogue_tile_n", "64", "columns that leave together", {}});
  return settings;
}

// Scales between 1/2 and 2, or up to 1 (e4m3).
Array random_scales(const ScaledConfig& c, int64_t rows, uint64_t seed) {
  const pl::ShapeDtype type{c.scale_dtype, tiled_scale_shape(rows, c.k / c.block)};
  if (c.scale_dtype != pl::ue8m0) return filled(type, {.kind = Fill::Kind::rand, .seed = seed});
  Array out =
      filled({pl::u8, type.shape}, {.kind = Fill::Kind::randint, .seed = seed, .low = 126, .high = 129});
  out.type = type;
  return out;
}

std::vector<Array> random_inputs(const ScaledConfig& c, uint64_t seed) {
  std::vector<Array> inputs = normal_inputs({{c.a_dtype, {c.m, c.k}}, {c.b_dtype, {c.n, c.k}}}, 4 * seed);
  inputs.push_back(random_scales(c, c.m, 4 * seed + 2));
  inputs.push_back(random_scales(c, c.n, 4 * seed + 3));
  return inputs;
}

// A matrix times its scales, in f32.
Array scaled(const ScaledConfig& c, const Array& matrix, const Array& scales) {
  std::vector<float> values = to_floats(matrix);
  const std::vector<float> factors = to_floats(scales);
  const int64_t k = matrix.type.shape[1], blocks = k / c.block;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i) / k, block = static_cast<int64_t>(i) % k / c.block;
    values[i] *= factors[static_cast<size_t>(tiled_scale_index(row, block, blocks))];
  }
  return from_floats({pl::f32, matrix.type.shape}, values);
}

KernelSpec spec_of(const Format& format) {
  KernelSpec spec = kernels::spec_of(format.name, format.doc, {"a", "b", "a_scale", "b_scale"}, {"d"});
  spec.sizes = {{"m", format.defaults.m, "rows of A and D"},
                {"n", format.defaults.n, "rows of B, columns of D"},
                {"k", format.defaults.k, "columns of A and B"}};
  spec.chip = "b200";
  spec.settings = settings_of(format);
  spec.build = [format](const Choice& choice) {
    return matmul_scaled(format.name, config_of(format, choice));
  };
  spec.make_inputs = [format](const Choice& choice, uint64_t seed) {
    return random_inputs(config_of(format, choice), seed);
  };
  spec.reference = [format](const Choice& choice, const std::vector<Array>& in) {
    const ScaledConfig c = config_of(format, choice);
    return std::vector{matmul_reference(scaled(c, in[0], in[2]), false, scaled(c, in[1], in[3]), true,
                                        nullptr, c.out_dtype)};
  };
  // Sums are those of f16 operands, of terms that are up to four times as large.
  spec.tolerance = [](const Choice& choice) {
    Tolerance t = matmul_tolerance(pl::f16, choice.dtype("out_dtype"), choice.size("k"));
    t.absolute *= 4;
    return t;
  };
  return spec;
}

}  // namespace

std::vector<KernelSpec> scaled_specs() { return {spec_of(mxfp8), spec_of(nvfp4)}; }

}  // namespace palladion::kernels::blackwell
