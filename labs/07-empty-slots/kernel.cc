#include <palladion/program.h>
using namespace palladion::program;

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

plgpu::Kernel empty_slots(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& out, plgpu::Scratch& s) {
        const plgpu::Ref& slots = s["slots"];
        const plgpu::BarrierRef &full = s.barrier("full"), &empty = s.barrier("empty");
        const int64_t steps = c.n / c.tile;
        const auto tile = [&](const pl::Scalar& k) { return pl::ds(k * c.tile, c.tile); };
        pl::when(pl::axis_index("wg") == 0, [&] {  // the producer
          pl::fori_loop(0, steps, [&](const pl::Scalar& k) {
            const pl::Scalar slot = k % c.slots, round = k / c.slots;
            wait(empty.at(slot), round % 2);  // TODO  //! starter
            wait(empty.at(slot), (round + 1) % 2);  //! solution
            pl::when(k >= c.slots, [&] { wait(empty.at(slot), round % 2); });  //! guarded-same
            wait(empty.at(slot), 1);  //! always-one
            plgpu::copy_gmem_to_smem(x.at(tile(k)), slots.at(slot), full.at(slot));
          });
        });
        pl::when(pl::axis_index("wg") == 1, [&] {  // the consumer
          pl::fori_loop(0, steps, [&](const pl::Scalar& k) {
            const pl::Scalar slot = k % c.slots, round = k / c.slots;
            wait(full.at(slot), round % 2);
            out.at(tile(k)).store(slots.at(slot).load() * 2);
            plgpu::commit_smem();  // the loads are done, also for the async proxy
            plgpu::barrier_arrive(empty.at(slot));
          });
        });
      },
      {.in_types = {type},
       .out_type = type,
       .scratch_types = {{"slots", plgpu::SMEM({c.slots, c.tile}, pl::f32)},
                         {"full", plgpu::Barrier({.num_barriers = {c.slots}})},
                         {"empty", plgpu::Barrier({.num_barriers = {c.slots}})}},
       .num_threads = 2,
       .thread_name = "wg",
       .name = "empty_slots"});
}

PALLADION_KERNELS(Spec("empty_slots", "out = 2 x", empty_slots)
                      .size("n", &Config::n, "elements")
                      .setting("tile", &Config::tile, "elements a step")
                      .setting("slots", &Config::slots, "tiles on their way")
                      .arrays({"x"}, {"out"}));
