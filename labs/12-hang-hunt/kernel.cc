#include <palladion/program.h>
using namespace palladion::program;

struct Config {
  int64_t n = 1536, tile = 256, slots = 2;
};

plgpu::Kernel pairs(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& out, plgpu::Scratch& s) {
        const plgpu::BarrierRef &full = s.barrier("full"), &empty = s.barrier("empty");
        const int64_t steps = c.n / c.tile;
        const auto tile = [&](const pl::Scalar& k) { return pl::ds(k * c.tile, c.tile); };
        pl::when(pl::axis_index("wg") == 0, [&] {  // fetches
          pl::fori_loop(0, steps, [&](const pl::Scalar& k) {
            const pl::Scalar slot = k % c.slots;
            pl::when(k >= c.slots, [&] { plgpu::barrier_wait(empty.at(slot)); });
            plgpu::copy_gmem_to_smem(a.at(tile(k)), s["a"].at(slot), full.at(slot));
            plgpu::copy_gmem_to_smem(b.at(tile(k)), s["b"].at(slot), full.at(slot));
          });
          // The last tiles must have been read before the CTA ends.  //! not no-tail
          for (int64_t k = std::max<int64_t>(0, steps - c.slots); k < steps; ++k) plgpu::barrier_wait(empty.at(k % c.slots));  //! not no-tail
        });
        pl::when(pl::axis_index("wg") == 1, [&] {  // adds
          pl::fori_loop(0, steps, [&](const pl::Scalar& k) {
            const pl::Scalar slot = k % c.slots;
            plgpu::barrier_wait(full.at(slot));
            out.at(tile(k)).store(s["a"].at(slot).load() + s["b"].at(slot).load());
            plgpu::commit_smem();  // the loads are done, also for the async proxy
            pl::when(k + c.slots < steps, [&] { plgpu::barrier_arrive(empty.at(slot)); });  //! starter count-only no-tail
            plgpu::barrier_arrive(empty.at(slot));  //! not starter count-only no-tail
          });
        });
      },
      {.in_types = {type, type},
       .out_type = type,
       .scratch_types = {{"a", plgpu::SMEM({c.slots, c.tile}, pl::f32)},
                         {"b", plgpu::SMEM({c.slots, c.tile}, pl::f32)},
                         {"full", plgpu::Barrier({.num_arrivals = 3, .num_barriers = {c.slots}})},  //! starter arrival-only
                         {"full", plgpu::Barrier({.num_arrivals = 1, .num_barriers = {c.slots}})},  //! too-few
                         {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.slots}})},  //! solution count-only no-tail
                         {"empty", plgpu::Barrier({.num_barriers = {c.slots}})}},
       .num_threads = 2,
       .thread_name = "wg",
       .name = "pairs"});
}

PALLADION_KERNELS(Spec("pairs", "out = a + b", pairs)
                      .size("n", &Config::n, "elements")
                      .setting("tile", &Config::tile, "elements a step")
                      .setting("slots", &Config::slots, "pairs of tiles on their way")
                      .arrays({"a", "b"}, {"out"}));
