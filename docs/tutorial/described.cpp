// A description with everything that a Spec takes.
#include <palladion/program.h>
using namespace palladion::program;

namespace {
struct Config {
  int64_t n = 4096, tile = 1024;
  pl::DType dtype = pl::f32;
};

plgpu::Kernel record(const Config& c) {
  const pl::ShapeDtype type{c.dtype, {c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& y, const plgpu::Ref& out) {
        const auto tile = pl::ds(pl::program_id(0) * c.tile, c.tile);
        out.at(tile).store(x.at(tile).load() + y.at(tile).load());
      },
      {.in_types = {type, type}, .out_type = type, .grid = {c.n / c.tile}, .name = "add"});
}

Array reference(const Config&, const std::vector<Array>& inputs) {
  std::vector<double> sum = to_doubles(inputs[0]);
  const std::vector<double> y = to_doubles(inputs[1]);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += y[i];
  return from_doubles(inputs[0].type, sum);
}
}  // namespace

PALLADION_KERNELS(Spec("add", "out = x + y", record)      // plgpu::Kernel record(const Config&)
                      .size("n", &Config::n, "elements")  // --shape n=4096
                      .setting("tile", &Config::tile, "elements a CTA", {.min = 128, .multiple_of = 128})
                      .setting("dtype", &Config::dtype, "of all arrays", {pl::f32, pl::f16})
                      .arch("h200")  // the chip where the command line names none: b200 for Blackwell
                      .arrays({"x", "y"}, {"out"})  // names, for messages, --in and --out
                      .reference(reference)  // Array reference(const Config&, const std::vector<Array>&)
                      .tolerance({.relative = 1e-3}));
