#include <palladion/program.h>
using namespace palladion::program;

// A box of 64 rows by 48 columns of f16. How many bytes does its copy deliver to the barrier,
// answer inside: ?     when it is inside of the tensor?  //! not solution
// answer inside: 6144  //! solution
// answer edge: ?       when 10 of its rows lie outside?  //! not solution
// answer edge: 6144  //! solution

struct Config {
  int64_t n = 1024, tile = 128;
};

plgpu::Kernel stencil(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.n}};
  const int64_t box = c.tile;  // TODO: with the neighbours  //! starter
  const int64_t box = c.tile + 8;  // multiples of 16 bytes: the neighbours, and some more  //! solution no-shift
  const int64_t box = c.tile + 2;  //! odd-box
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out, plgpu::Scratch& s) {
        const plgpu::Ref& buffer = s["buffer"];
        const pl::Scalar first = pl::program_id(0) * c.tile;
        plgpu::copy_gmem_to_smem(x.at(pl::ds(first, box)), buffer, s.barrier("full"));  // TODO: the box's corner  //! starter no-shift
        plgpu::copy_gmem_to_smem(x.at(pl::ds(first - 4, box)), buffer, s.barrier("full"));  //! solution
        plgpu::copy_gmem_to_smem(x.at(pl::ds(first - 1, box)), buffer, s.barrier("full"));  //! odd-box
        plgpu::barrier_wait(s.barrier("full"));
        const plgpu::Layout layout = plgpu::Layout::WG_STRIDED({c.tile}, 1);
        const auto window = [&](int64_t shift) { return buffer.at(pl::ds(shift, c.tile)).load(layout); };
        out.at(pl::ds(first, c.tile)).store(window(0));  // TODO: left + middle + right  //! starter
        out.at(pl::ds(first, c.tile)).store(window(3) + window(4) + window(5));  //! solution
        out.at(pl::ds(first, c.tile)).store(window(0) + window(1) + window(2));  //! odd-box no-shift
      },
      {.in_types = {type},
       .out_type = type,
       .scratch_types = {{"buffer", plgpu::SMEM({box}, pl::f32)}, {"full", plgpu::Barrier()}},
       .grid = {c.n / c.tile},
       .name = "stencil"});
}

PALLADION_KERNELS(Spec("stencil", "out[i] = x[i-1] + x[i] + x[i+1]", stencil)
                      .size("n", &Config::n, "elements")
                      .setting("tile", &Config::tile, "elements a CTA")
                      .arrays({"x"}, {"out"}));
