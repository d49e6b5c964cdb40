#include <palladion/program.h>
using namespace palladion::program;

// out = a + b, of n elements; with `racy`, every CTA writes the first tile.
struct Config {
  int64_t n = 1024, tile = 256;
  bool racy = false;
};

plgpu::Kernel add(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& out) {
        const auto tile = pl::ds(pl::program_id(0) * c.tile, c.tile);
        const auto to = c.racy ? pl::ds(pl::program_id(0) * 0, c.tile) : tile;
        out.at(to).store(a.at(tile).load() + b.at(tile).load());
      },
      {.in_types = {type, type}, .out_type = type, .grid = {c.n / c.tile}, .name = "add"});
}

PALLADION_KERNELS(Spec("add", "out = a + b", add)
                      .size("n", &Config::n, "elements")
                      .setting("tile", &Config::tile, "elements a CTA", {.min = 128, .multiple_of = 128})
                      .setting("racy", &Config::racy, "every CTA writes the first tile"));
