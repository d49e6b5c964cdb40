#include <palladion/program.h>
using namespace palladion::program;

// A barrier has completed three phases. Does a wait pass at once, or does it block?
// answer wait0: ?  //! not solution backwards
// answer wait1: ?  //! not solution backwards
// answer wait0: passes  //! solution
// answer wait1: blocks  //! solution
// answer wait0: blocks  //! backwards
// answer wait1: passes  //! backwards
// Which parity does the wait for the 6th completion of a barrier give?
// answer sixth: ?  //! not solution backwards
// answer sixth: 1  //! solution backwards

struct Config {
  int64_t n = 1024, tile = 256;
};

// Until the phase of this parity has completed: what plgpu::barrier_wait does, which counts the phases by itself.
void wait(const plgpu::BarrierRef& barrier, const pl::Scalar& parity,
          std::source_location here = std::source_location::current()) {  // a finding names the line that calls it
  plgpu::inline_ptx({R"(
    .reg .pred done;
    again:
    mbarrier.try_wait.parity.shared::cta.b64 done, [barrier], parity;
    @!done bra again;)", here},
                    {}, {{"barrier", barrier}, {"parity", parity}}, {.side_effects = true});
}

plgpu::Kernel parity(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out, plgpu::Scratch& s) {
        const plgpu::Ref& buffer = s["buffer"];
        const plgpu::BarrierRef& full = s.barrier("full");
        pl::fori_loop(0, c.n / c.tile, [&](const pl::Scalar& i) {
          const auto tile = pl::ds(i * c.tile, c.tile);
          plgpu::copy_gmem_to_smem(x.at(tile), buffer, full);  // one arrival, when all bytes are there
          wait(full, 0);  // TODO: which parity has the phase of step i?  //! starter
          wait(full, i % 2);  //! solution backwards
          wait(full, (i + 1) % 2);  //! one-ahead
          wait(full, 1);  //! always-one
          plgpu::barrier_wait(full);  //! by-verb
          out.at(tile).store(buffer.load() * 2);
          plgpu::commit_smem();  // the buffer has been read: the next copy may come
        });
      },
      {.in_types = {type},
       .out_type = type,
       .scratch_types = {{"buffer", plgpu::SMEM({c.tile}, pl::f32)}, {"full", plgpu::Barrier()}},
       .name = "parity"});
}

PALLADION_KERNELS(Spec("parity", "out = 2 x", parity)
                      .size("n", &Config::n, "elements")
                      .setting("tile", &Config::tile, "elements a step")
                      .arrays({"x"}, {"out"}));
