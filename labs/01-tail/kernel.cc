#include <palladion/program.h>
using namespace palladion::program;

struct Config {
  int64_t n = 4096, tile = 1024;
};

plgpu::Kernel tail(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& out) {
        const pl::Scalar start = pl::program_id(0) * c.tile;  //! not clamped
        const pl::Scalar start = pl::minimum(pl::program_id(0) * c.tile, pl::Scalar(c.n - c.tile));  //! clamped
        const auto tile = pl::ds(start, c.tile);  //! starter over clamped
        out.at(tile).store(a.at(tile).load() + b.at(tile).load());  //! starter over clamped
        const auto add = [&](const pl::Scalar& first, int64_t size) {  //! solution always-both
          const auto tile = pl::ds(first, size);  //! solution always-both
          out.at(tile).store(a.at(tile).load() + b.at(tile).load());  //! solution always-both
        };  //! solution always-both
        const int64_t full = c.n / c.tile, rest = c.n % c.tile;  //! solution always-both
        pl::when(pl::program_id(0) < full, [&] { add(start, c.tile); });  //! solution
        add(start, c.tile);  //! always-both
        if (rest != 0) pl::when(pl::program_id(0) == full, [&] { add(start, rest); });  //! solution always-both
      },
      {.in_types = {type, type},
       .out_type = type,
       .grid = {c.n / c.tile},  // TODO: CTAs for all elements  //! starter
       .grid = {pl::cdiv(c.n, c.tile)},  //! not starter
       .name = "tail"});
}

Array reference(const Config& c, const std::vector<Array>& in) {
  Array out({pl::f32, {c.n}});
  for (int64_t i = 0; i < c.n; ++i) set_value(out, i, value_at(in[0], i) + value_at(in[1], i));
  return out;
}

PALLADION_KERNELS(Spec("tail", "out = a + b", tail)
                      .size("n", &Config::n, "elements")
                      .setting("tile", &Config::tile, "elements a CTA")
                      .arrays({"a", "b"}, {"out"})
                      .reference(reference));
