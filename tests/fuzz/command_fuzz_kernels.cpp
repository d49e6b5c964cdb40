// Two small kernels as a user's file has them, compiled once for command_fuzz.
#include "program.h"

using namespace palladion::program;

namespace {

struct Config {
  int64_t n = 128;
  bool twice = false;
};

plgpu::Kernel scaled(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& out) {
        const plgpu::Array x = a.load();
        out.store(c.twice ? x + x : x);
      },
      {.in_types = {type}, .out_type = type, .grid = {1}, .name = "scaled"});
}

plgpu::Kernel ones(const Config& c) {
  return plgpu::kernel([&](const plgpu::Ref& out) { out.store(plgpu::full({c.n}, 1.0, pl::f32)); },
                       {.out_type = pl::ShapeDtype{pl::f32, {c.n}}, .grid = {1}, .name = "ones"});
}

}  // namespace

PALLADION_KERNELS(Spec("scaled", "out = a or 2 a", scaled)
                      .size("n", &Config::n, "elements", {.min = 128, .max = 4096, .multiple_of = 128})
                      .setting("twice", &Config::twice, "1: doubled")
                      .arrays({"a"}, {"out"}),
                  Spec("ones", "out = 1", ones).size("n", &Config::n, "elements"));
