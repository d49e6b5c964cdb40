#include <palladion/program.h>
using namespace palladion::program;

// out = alpha * x + beta for the first `length` elements, x behind them: numbers given at launch, beta in
// bf16.
struct Config {
  int64_t n = 512;
  double alpha = 2;     // a setting, and a number of the launch
  bool shifted = true;  // whether there is a beta
  int cluster = 1;      // a setting with the name of an option of the package's run
};

plgpu::Kernel scale(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.n}};
  std::vector<plgpu::NamedScalar> numbers = {{"alpha", pl::f32, c.alpha}, {"length", pl::s32, c.n}};
  if (c.shifted) numbers.push_back({"beta", pl::bf16, 0.0});
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out) {
        pl::fori_loop(0, c.n / 128, [&](const pl::Index& i) {
          const auto tile = pl::ds(i * 128, 128);
          out.at(tile).store(x.at(tile).load());
          pl::when(i * 128 < plgpu::launch_scalar("length"), [&] {
            auto y = x.at(tile).load() * plgpu::launch_scalar("alpha");
            if (c.shifted) y = y + plgpu::launch_scalar("beta").astype(pl::f32);
            out.at(tile).store(y);
          });
        });
      },
      {.in_types = {type}, .out_type = type, .scalars = numbers, .grid = {1}, .name = "scale"});
}

PALLADION_KERNELS(Spec("scale", "out = alpha x + beta", scale)
                      .size("n", &Config::n, "elements")
                      .setting("alpha", &Config::alpha, "the factor", RealRange{.min = -8, .max = 8})
                      .setting("shifted", &Config::shifted, "adds beta")
                      .setting("cluster", &Config::cluster, "1 or 2", {.min = 1, .max = 2}));
