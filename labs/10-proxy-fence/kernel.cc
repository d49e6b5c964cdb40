#include <palladion/program.h>
using namespace palladion::program;

struct Config {
  int64_t n = 1024, tile = 256;
};

plgpu::Kernel twice(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out, plgpu::Scratch& s) {
        const plgpu::Ref& buffer = s["buffer"];
        pl::fori_loop(0, c.n / c.tile, [&](const pl::Scalar& i) {
          const auto tile = pl::ds(i * c.tile, c.tile);
          const plgpu::Array value = x.at(tile).load() * 2;
          plgpu::wait_smem_to_gmem(0, true);  //! solution fence-late starter
          plgpu::commit_smem();  //! fence-early
          plgpu::wait_smem_to_gmem(0, true);  //! fence-early
          buffer.store(value);
          plgpu::commit_smem();  //! solution no-reuse-wait
          plgpu::copy_smem_to_gmem(buffer, out.at(tile));
          plgpu::commit_smem();  //! fence-late
        });
        plgpu::wait_smem_to_gmem(0);
      },
      {.in_types = {type},
       .out_type = type,
       .scratch_types = {{"buffer", plgpu::SMEM({c.tile}, pl::f32)}},
       .name = "twice"});
}

Array reference(const Config& c, const std::vector<Array>& in) {
  Array out({pl::f32, {c.n}});
  for (int64_t i = 0; i < c.n; ++i) set_value(out, i, 2 * value_at(in[0], i));
  return out;
}

PALLADION_KERNELS(Spec("twice", "out = 2 x", twice)
                      .size("n", &Config::n, "elements")
                      .setting("tile", &Config::tile, "elements a step")
                      .arrays({"x"}, {"out"})
                      .reference(reference));
