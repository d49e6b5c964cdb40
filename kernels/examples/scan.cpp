#include "kernels/examples/scan.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "kernels/examples/rows.h"
#include "kernels/frame/helpers.h"
#include "kernels/frame/reference.h"
#include "kernels/frame/specs.h"
#include "kernels/frame/typed_spec.h"

namespace palladion::kernels {
namespace {

void check(const Scan& c) {
  const Rules rules("scan");
  rules.at_least("m", c.m, 1);
  rules.at_least("n", c.n, 1);
  rules.require(c.tile >= 128 && c.tile <= 8192 && std::has_single_bit(static_cast<uint64_t>(c.tile)),
                fmt::format("tile={} must be a power of two, 128 to 8192", c.tile));
  rules.require(c.parts >= 1 && c.parts <= 1024, fmt::format("parts={} must be 1 to 1024", c.parts));
}

// Whole tiles of a part.
int64_t tiles_of(const Scan& c) { return pl::cdiv(pl::cdiv(c.n, c.tile), c.parts); }

struct Body {
  const Scan& c;
  Ref x, out;       // a row of each
  Ref sums, ready;  // of the row: the sum of each part; it is there
  Scalar part;      // this CTA's

  Scalar zero() const { return Scalar(0).astype(c.dtype); }
  Scalar first() const { return part * tiles_of(c); }
  // Behind this CTA's last whole tile; whether it has the rest of the row, too.
  Scalar last() const { return pl::minimum(first() + tiles_of(c), c.n / c.tile); }
  bool has_rest() const { return c.n % c.tile != 0; }
  Scalar holds_rest() const { return part == (c.n / c.tile) / tiles_of(c); }
  pl::Slice tile(const Scalar& i) const { return ds(i * c.tile, c.tile); }
  pl::Slice rest() const { return ds(c.n / c.tile * c.tile, c.n % c.tile); }

  // The sum of this part's whole tiles; the rest belongs to the last part, for whose sum nobody asks.
  void publish() const {
    const Scalar sum = pl::fori_loop(
        first(), last(),
        [&](const Scalar& i, const Scalar& before) { return before + load_part(x, c.n, tile(i)).sum_all(); },
        zero());
    sums.at(part).store(sum);
    plgpu::semaphore_signal(ready.at(part), 1, {.memory_scope = "gpu"});
  }
  // The sum of the parts before this one, in their order: their CTAs have lower numbers and have started.
  Scalar before() const {
    return pl::fori_loop(
        0, part,
        [&](const Scalar& other, const Scalar& so_far) {
          plgpu::semaphore_wait(ready.at(other), 1, {.decrement = false, .memory_scope = "gpu"});
          return so_far + sums.at(other).load_scalar();
        },
        zero());
  }

  // The running sums of a tile, and what the next one begins with.
  Scalar add(const pl::Slice& tile, const Scalar& so_far, const plgpu::Array& v) const {
    out.at(tile).store(plgpu::cumsum(v) + so_far);
    return so_far + v.sum_all();
  }

  // Those of the whole tiles. A CTA with a row of its own loads the next tile while it adds one up, where a
  // lane has registers for both.
  Scalar walk(const Scalar& start) const {
    const auto load = [&](const Scalar& i) { return load_part(x, c.n, tile(i)); };
    if (c.parts > 1 || c.tile > 4096)
      return pl::fori_loop(
          first(), last(),
          [&](const Scalar& i, const Scalar& so_far) { return add(tile(i), so_far, load(i)); }, start);
    const int64_t tiles = c.n / c.tile;
    if (tiles == 0) return start;
    const auto [sum, values] = pl::fori_loop(
        0, tiles - 1,
        [&](const Scalar& i, const Scalar& so_far, const plgpu::Array& v) {
          const plgpu::Array next = load(i + 1);
          return std::tuple{add(tile(i), so_far, v), next};
        },
        start, load(0));
    return add(tile(tiles - 1), sum, values);
  }

  void run() const {
    Scalar start = zero();
    if (c.parts > 1) {
      publish();
      start = before();
    }
    const Scalar sum = walk(start);
    if (has_rest()) pl::when(holds_rest(), [&] { add(rest(), sum, load_part(x, c.n, rest())); });
  }
};

Array reference(const Scan& c, const std::vector<Array>& inputs) {
  std::vector<double> x = to_doubles(inputs[0]);
  for (size_t i = 0; i < x.size(); ++i)
    if (i % static_cast<size_t>(c.n) != 0) x[i] += x[i - 1];
  return from_doubles(inputs[0].type, x);
}

}  // namespace

plgpu::Kernel scan(const Scan& c) {
  check(c);
  const pl::ShapeDtype type{c.dtype, {c.m, c.n}};
  plgpu::KernelOptions o{.in_types = type,
                         .out_type = type,
                         .grid = {c.m, c.parts},
                         .grid_names = {"row", "part"},
                         .name = "scan"};
  if (c.parts > 1)
    o.scratch_types = {{"sums", plgpu::GMEM({c.m, c.parts}, c.dtype)},
                       {"ready", plgpu::SemaphoreType::REGULAR({c.m, c.parts})}};
  return plgpu::kernel(
      [&](const Ref& x, const Ref& out, plgpu::Scratch& s) {
        const Scalar row = pl::axis_index("row");
        Body{.c = c,
             .x = x.at(row),
             .out = out.at(row),
             .sums = c.parts > 1 ? s["sums"].at(row) : Ref(),
             .ready = c.parts > 1 ? s["ready"].at(row) : Ref(),
             .part = c.parts > 1 ? pl::axis_index("part") : Scalar(0)}
            .run();
      },
      o);
}

KernelSpec scan_spec() {
  using C = Scan;
  KernelSpec spec =
      Spec("scan", "Running sums along each row, which several CTAs may share", scan)
          .size("m", &C::m, "rows")
          .size("n", &C::n, "elements of a row")
          .setting("dtype", &C::dtype, "of both arrays", {pl::f32, pl::s32})
          .setting("tile", &C::tile, "elements in registers at a time: a power of two",
                   {.min = 128, .max = 8192})
          .setting("parts", &C::parts, "CTAs of a row", {.min = 1, .max = 1024})
          .arrays({"x"}, {"sums"})
          .inputs([](const C& c, uint64_t seed) { return normal_inputs({{c.dtype, {c.m, c.n}}}, seed); })
          .reference(reference);
  // Sums in another order than the reference's, of numbers of variance 1.
  spec.tolerance = [](const Choice& choice) {
    if (choice.dtype("dtype") == pl::s32) return Tolerance{};
    return row_tolerance(pl::f32, 4 * std::sqrt(static_cast<double>(choice.size("n"))));
  };
  return spec;
}

}  // namespace palladion::kernels
