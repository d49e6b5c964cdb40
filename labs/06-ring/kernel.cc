#include <palladion/program.h>
using namespace palladion::program;

// 4 slots. Which parity does the wait of step 22 give?
// answer step22: ?  //! not solution
// answer step22: 1  //! solution

struct Config {
  int64_t n = 2048, tile = 256, slots = 3;
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

plgpu::Kernel ring(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out, plgpu::Scratch& s) {
        const plgpu::Ref& slots = s["slots"];
        const plgpu::BarrierRef& full = s.barrier("full");
        const int64_t steps = c.n / c.tile;
        const auto tile = [&](const pl::Scalar& k) { return pl::ds(k * c.tile, c.tile); };
        const auto fetch = [&](const pl::Scalar& k) {
          plgpu::copy_gmem_to_smem(x.at(tile(k)), slots.at(k % c.slots), full.at(k % c.slots));
        };
        for (int64_t k = 0; k < std::min(c.slots, steps); ++k) fetch(k);
        pl::fori_loop(0, steps, [&](const pl::Scalar& k) {
          const pl::Scalar slot = k % c.slots;
          wait(full.at(slot), k % 2);  // TODO  //! starter
          wait(full.at(slot), k / c.slots % 2);  //! solution
          wait(full.at(slot), slot % 2);  //! of-slot
          wait(full.at(slot), 0);  //! never-flips
          wait(full.at(slot), (k / c.slots + 1) % 2);  //! one-ahead
          out.at(tile(k)).store(slots.at(slot).load() * 2);
          plgpu::commit_smem();  // the slot has been read: the next copy may come
          pl::when(k + c.slots < steps, [&] { fetch(k + c.slots); });
        });
      },
      {.in_types = {type},
       .out_type = type,
       .scratch_types = {{"slots", plgpu::SMEM({c.slots, c.tile}, pl::f32)},
                         {"full", plgpu::Barrier({.num_barriers = {c.slots}})}},
       .name = "ring"});
}

PALLADION_KERNELS(Spec("ring", "out = 2 x", ring)
                      .size("n", &Config::n, "elements")
                      .setting("tile", &Config::tile, "elements a step")
                      .setting("slots", &Config::slots, "tiles on their way")
                      .arrays({"x"}, {"out"}));
