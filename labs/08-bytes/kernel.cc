#include <palladion/program.h>
using namespace palladion::program;

// A barrier has one pending arrival. A thread does arrive.expect_tx with 3072, and two copies of 1024 bytes signal it.
// How many bytes are outstanding when both have arrived?
// answer outstanding: ?  //! not solution
// answer outstanding: 1024  //! solution

struct Config {
  int64_t n = 2048, tile = 512;
};

// Until the phase of this parity has completed.
void wait(const plgpu::BarrierRef& barrier, const pl::Scalar& parity,
          std::source_location here = std::source_location::current()) {  // a finding names the line that calls it
  plgpu::inline_ptx({R"(
    .reg .pred done;
    again:
    mbarrier.try_wait.parity.shared::cta.b64 done, [barrier], parity;
    @!done bra again;)", here},
                    {}, {{"barrier", barrier}, {"parity", parity}}, {.side_effects = true});
}

// Thread 0 announces bytes and arrives.
void announce(const plgpu::BarrierRef& barrier, int64_t bytes,
              std::source_location here = std::source_location::current()) {
  plgpu::inline_ptx({R"(
    .reg .pred first;
    .reg .b32 thread;
    mov.u32 thread, %tid.x;
    setp.eq.u32 first, thread, 0;
    @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], bytes;)", here},
                    {}, {{"barrier", barrier}, {"bytes", pl::Scalar(int32_t(bytes))}}, {.side_effects = true});
}

// Thread 0 starts a copy that delivers its bytes to the barrier.
void copy(const plgpu::Ref& from, const plgpu::Ref& to, int64_t bytes, const plgpu::BarrierRef& barrier,
          std::source_location here = std::source_location::current()) {
  plgpu::inline_ptx({R"(
    .reg .pred first;
    .reg .b32 thread;
    mov.u32 thread, %tid.x;
    setp.eq.u32 first, thread, 0;
    @first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [barrier];)", here},
                    {}, {{"from", from}, {"to", to}, {"bytes", pl::Scalar(int32_t(bytes))}, {"barrier", barrier}},
                    {.side_effects = true});
}

plgpu::Kernel bytes(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& out, plgpu::Scratch& s) {
        const auto tile = pl::ds(pl::program_id(0) * c.tile, c.tile);
        const plgpu::BarrierRef& full = s.barrier("full");
        const int64_t tile_bytes = c.tile * 4;
        announce(full, tile_bytes);  // TODO  //! starter
        announce(full, 2 * tile_bytes);  //! solution
        announce(full, 2 * c.tile);  //! elements
        announce(full, 3 * tile_bytes);  //! too-many
        announce(full, tile_bytes);  //! twice
        announce(full, tile_bytes);  //! twice
        copy(a.at(tile), s["a"], tile_bytes, full);
        copy(b.at(tile), s["b"], tile_bytes, full);
        wait(full, 0);
        out.at(tile).store(s["a"].load() + s["b"].load());
      },
      {.in_types = {type, type},
       .out_type = type,
       .scratch_types = {{"a", plgpu::SMEM({c.tile}, pl::f32)},
                         {"b", plgpu::SMEM({c.tile}, pl::f32)},
                         {"full", plgpu::Barrier({.num_arrivals = 1})}},
       .grid = {c.n / c.tile},
       .name = "bytes"});
}

PALLADION_KERNELS(Spec("bytes", "out = a + b", bytes)
                      .size("n", &Config::n, "elements")
                      .setting("tile", &Config::tile, "elements a CTA")
                      .arrays({"a", "b"}, {"out"}));
