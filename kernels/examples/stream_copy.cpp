#include "kernels/examples/stream_copy.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/frame/helpers.h"
#include "kernels/frame/specs.h"

namespace palladion::kernels {
namespace {

using Variant = StreamCopy::Variant;

constexpr int64_t columns = 256;  // TMA's widest box

void check(const StreamCopy& c) {
  const Rules rules("stream_copy");
  rules.require(c.tile > 0 && c.tile <= 256, fmt::format("tile={} must be 1 to 256", c.tile));
  rules.require(c.n % (columns * c.tile) == 0,
                fmt::format("n={} must be a multiple of {}: the elements of a tile", c.n, columns * c.tile));
  rules.require(c.ctas >= 0, "ctas must not be negative");
  rules.require(c.variant == Variant::plain || c.stages >= 2, "stages must be at least 2");
}

struct Body {
  const StreamCopy& c;
  Ref x, out;

  int64_t tiles() const { return c.n / columns / c.tile; }
  int64_t ctas() const { return c.ctas == 0 ? tiles() : std::min(c.ctas, tiles()); }
  Scalar steps() const {
    if (ctas() == tiles()) return 1;
    return (tiles() - 1 - pl::axis_index("cta")) / ctas() + 1;
  }
  Ref tile(const Ref& array, const Scalar& step) const {
    return array.at(ds((pl::axis_index("cta") + step * ctas()) * c.tile, c.tile));
  }

  void through_registers() const {
    pl::fori_loop(0, steps(), [&](const Scalar& step) { tile(out, step).store(tile(x, step).load()); });
  }

  void through_smem(const Ref& ring, const BarrierRef& full) const {
    const Scalar n = steps();
    const auto fetch = [&](const Scalar& step) {
      const Scalar slot = step % c.stages;
      plgpu::copy_gmem_to_smem(tile(x, step), ring.at(slot), full.at(slot));
    };
    for (int64_t s = 0; s < c.stages; ++s) pl::when(n > s, [&] { fetch(s); });
    pl::fori_loop(0, n, [&](const Scalar& step) {
      const Scalar slot = step % c.stages;
      plgpu::barrier_wait(full.at(slot));
      plgpu::copy_smem_to_gmem(ring.at(slot), tile(out, step));
      // One store stays in flight; the slot of the one before it is free.
      const Scalar next = step + (c.stages - 1);
      pl::when(step > 0 && next < n, [&] {
        plgpu::wait_smem_to_gmem(1, true);
        fetch(next);
      });
    });
    plgpu::wait_smem_to_gmem(0);
  }
};

StreamCopy config_of(const Choice& choice) {
  return {.n = choice.size("n"),
          .variant = choice.word("variant") == "plain" ? Variant::plain : Variant::tma,
          .tile = choice.number("tile"),
          .ctas = choice.number("ctas"),
          .stages = choice.number("stages")};
}

}  // namespace

plgpu::Kernel stream_copy(const StreamCopy& c) {
  check(c);
  const Body sizes{.c = c, .x = {}, .out = {}};
  const pl::ShapeDtype type{pl::f32, {c.n / columns, columns}};
  plgpu::KernelOptions o = grid_of("stream_copy", sizes.ctas());
  o.in_types = type;
  o.out_type = type;
  if (c.variant == Variant::tma)
    o.scratch_types = {{"ring", plgpu::SMEM({c.stages, c.tile, columns}, pl::f32)},
                       {"full", plgpu::Barrier({.num_barriers = {c.stages}})}};
  return plgpu::kernel(
      [&](const Ref& x, const Ref& out, plgpu::Scratch& s) {
        const Body body{.c = c, .x = x, .out = out};
        if (c.variant == Variant::tma)
          body.through_smem(s["ring"], s.barrier("full"));
        else
          body.through_registers();
      },
      o);
}

KernelSpec stream_copy_spec() {
  KernelSpec spec = spec_of(
      "stream_copy", "out = x: through registers, or by TMA through a ring in shared memory", {"x"}, {"y"});
  spec.sizes = {{"n", 1 << 24, "elements: a multiple of 256 tile"}};
  spec.settings = {{"variant", "tma", "the way", {"plain", "tma"}},
                   {"tile", "16", "rows of 256 elements a tile", {}},
                   ctas_setting("ctas", 2, "CTAs of a persistent grid; 0: one a tile"),
                   {"stages", "4", "tma: tiles of a CTA in shared memory", {}}};
  spec.build = [](const Choice& choice) { return stream_copy(config_of(choice)); };
  spec.make_inputs = [](const Choice& choice, uint64_t seed) {
    return normal_inputs({{pl::f32, {choice.size("n") / columns, columns}}}, seed);
  };
  spec.reference = [](const Choice&, const std::vector<Array>& inputs) { return inputs; };
  return spec;
}

}  // namespace palladion::kernels
