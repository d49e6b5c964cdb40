// out = x + y, one tile a CTA. Put your own kernel in its place.
#include <palladion/program.h>

using namespace palladion::program;

namespace {

// Sizes and settings with their defaults; their ranges are at the end of the file.
struct Config {
  int64_t n = 1 << 16;
  int64_t tile = 1024;
  pl::DType dtype = pl::f32;
};

plgpu::Kernel record(const Config& c) {
  Rules("relu_add").divides("tile", c.tile, "n", c.n);
  const pl::ShapeDtype type{c.dtype, {c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& y, const plgpu::Ref& out) {
        const auto tile = pl::ds(pl::program_id(0) * c.tile, c.tile);
        const plgpu::Array sum = x.at(tile).load() + y.at(tile).load();
        out.at(tile).store(plgpu::maximum(sum, 0.0F));
      },
      {.in_types = {type, type}, .out_type = type, .grid = {c.n / c.tile}, .name = "relu_add"});
}

// What the output must be, computed on the host: in f64, rounded once.
Array reference(const Config&, const std::vector<Array>& inputs) {
  std::vector<double> sum = to_doubles(inputs[0]);
  const std::vector<double> y = to_doubles(inputs[1]);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = std::max(0.0, sum[i] + y[i]);
  return from_doubles(inputs[0].type, sum);
}

}  // namespace

PALLADION_KERNELS(Spec("relu_add", "out = x + y, one tile a CTA", record)
                      .size("n", &Config::n, "elements")
                      .setting("tile", &Config::tile, "elements a CTA",
                               {.min = 128, .max = 8192, .multiple_of = 128})
                      .setting("dtype", &Config::dtype, "of all three arrays", {pl::f32, pl::f16, pl::bf16})
                      .arrays({"x", "y"}, {"out"})
                      .reference(reference));
