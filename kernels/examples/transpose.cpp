#include "kernels/examples/transpose.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/frame/helpers.h"
#include "kernels/frame/specs.h"

namespace palladion::kernels {
namespace {

using plgpu::Layout;
using Variant = Transpose::Variant;

constexpr int64_t swizzle_columns = 32;  // f32 in 128 bytes
constexpr int64_t max_tile = 256;        // TMA's largest box along one dimension

void check(const Transpose& c) {
  const Rules rules("transpose");
  for (const int64_t tile : {c.tile_m, c.tile_n})
    rules.require(tile > 0 && tile <= max_tile && tile % swizzle_columns == 0,
                  fmt::format("a tile of {} must be a multiple of 32, at most 256", tile));
  rules.require(c.m % swizzle_columns == 0 && c.n % swizzle_columns == 0,
                fmt::format("m={} and n={} must be multiples of 32", c.m, c.n));
  rules.at_least("stages", c.stages, 1);
  rules.require(c.ctas >= 0, "ctas must not be negative");
  rules.at_least("band", c.band, 1);
}

// One element after another: a warp holds 32 neighbours of a row.
Layout rows_layout() { return Layout::TILED({{{4, 32}, {1}}}, {-3}, {-2}, -1); }

// A lane holds 2 rows x 4 columns of a 32x32 tile. Under the 128-byte swizzle the 16-byte pieces that 8
// neighbouring lanes read along the rows, and the 8-byte pieces that 16 of them write along the columns,
// are then in different banks. Dimensions, outermost first: row/16, column/8, row/8, column/4, row/4, 1,
// row/2, 1, row, column; lanes count through row/16, row/8, column/4, row/4, row/2.
Layout blocks_layout(bool vectors_along_rows) {
  return Layout::TILED({{{32, 32}, {16, 8}, {8, 4}, {4, 4}, {2, 4}}}, {-9}, {-10, -8, -7, -6, -4},
                       vectors_along_rows ? -1 : -2);
}

struct Body {
  const Transpose& c;
  Ref a, out, in_smem, out_smem;
  BarrierRef full;

  int64_t rows() const { return pl::cdiv(c.m, c.tile_m); }
  int64_t columns() const { return pl::cdiv(c.n, c.tile_n); }
  int64_t ctas() const { return c.ctas == 0 ? rows() * columns() : std::min(c.ctas, rows() * columns()); }
  int64_t in_flight() const { return ctas() == rows() * columns() ? 1 : c.stages; }
  int64_t out_buffers() const { return ctas() == rows() * columns() ? 1 : 2; }

  struct Corner {
    Scalar row, column;
  };
  Corner corner(const Scalar& step) const {
    const auto [mi, ni] = plgpu::planar_snake(pl::axis_index("cta") + step * ctas(), {rows(), columns()}, 1,
                                              std::min(c.band, columns()));
    return {mi * c.tile_m, ni * c.tile_n};
  }
  Scalar steps() const {
    if (ctas() == rows() * columns()) return 1;
    return (rows() * columns() - 1 - pl::axis_index("cta")) / ctas() + 1;
  }

  void fetch(const Scalar& step, const Scalar& slot) const {
    const Corner at = corner(step);
    plgpu::copy_gmem_to_smem(a.at(ds(at.row, c.tile_m), ds(at.column, c.tile_n)), in_smem.at(slot),
                             full.at(slot));
  }
  void store(const plgpu::Array& tile, const Scalar& step) const {
    const Ref buffer = out_smem.at(step % out_buffers());
    if (out_buffers() > 1) plgpu::wait_smem_to_gmem(1, true);
    buffer.transpose({1, 0}).store(
        c.variant == Variant::columns ? plgpu::layout_cast(tile, blocks_layout(false)) : tile);
    plgpu::commit_smem();
    const Corner at = corner(step);
    plgpu::copy_smem_to_gmem(buffer, out.at(ds(at.column, c.tile_n), ds(at.row, c.tile_m)));
  }
  void run() const {
    const Scalar n = steps();
    for (int64_t s = 0; s < in_flight(); ++s) pl::when(n > s, [&] { fetch(s, s); });
    pl::fori_loop(0, n, [&](const Scalar& step) {
      const Scalar slot = step % in_flight();
      plgpu::barrier_wait(full.at(slot));
      const plgpu::Array tile =
          in_smem.at(slot).load(c.variant == Variant::columns ? blocks_layout(true) : rows_layout());
      pl::when(step + in_flight() < n, [&] {
        plgpu::commit_smem();  // all of the tile is in registers
        fetch(step + in_flight(), slot);
      });
      store(tile, step);
    });
    plgpu::wait_smem_to_gmem(0, true);
  }
};

// Columns of tiles are stored one after another: TMA fetches each with one box.
plgpu::AllocationOptions tiles_of(const Transpose& c, int64_t rows) {
  if (c.variant == Variant::plain) return {};
  return {.transforms = {plgpu::TilingTransform({rows, swizzle_columns}), plgpu::SwizzleTransform(128)}};
}

Transpose config_of(const Choice& choice) {
  Transpose c;
  c.m = choice.size("m");
  c.n = choice.size("n");
  const std::string& variant = choice.word("variant");
  c.variant = variant == "plain"      ? Variant::plain
              : variant == "swizzled" ? Variant::swizzled
                                      : Variant::columns;
  c.tile_m = choice.number("tile_m");
  c.tile_n = choice.number("tile_n");
  c.ctas = choice.number("ctas");
  c.stages = choice.number("stages");
  c.band = choice.number("band");
  return c;
}

std::vector<Array> reference(const Choice& choice, const std::vector<Array>& inputs) {
  const int64_t m = choice.size("m"), n = choice.size("n");
  Array out({pl::f32, {n, m}});
  const auto from = inputs[0].as<uint32_t>();
  const auto to = out.as<uint32_t>();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) to[static_cast<size_t>(j * m + i)] = from[static_cast<size_t>(i * n + j)];
  return {std::move(out)};
}

}  // namespace

plgpu::Kernel transpose(const Transpose& c) {
  check(c);
  const Body sizes{.c = c, .a = {}, .out = {}, .in_smem = {}, .out_smem = {}, .full = {}};
  plgpu::KernelOptions o = grid_of("transpose", sizes.ctas());
  o.in_types = plgpu::Types(pl::f32, {c.m, c.n});
  o.out_type = plgpu::Types(pl::f32, {c.n, c.m});
  o.scratch_types = {
      {"in", plgpu::SMEM({sizes.in_flight(), c.tile_m, c.tile_n}, pl::f32, tiles_of(c, c.tile_m))},
      {"out", plgpu::SMEM({sizes.out_buffers(), c.tile_n, c.tile_m}, pl::f32, tiles_of(c, c.tile_n))},
      {"full", plgpu::Barrier({.num_barriers = {sizes.in_flight()}})}};
  return plgpu::kernel(
      [&](const Ref& a, const Ref& out, plgpu::Scratch& s) {
        Body{.c = c, .a = a, .out = out, .in_smem = s["in"], .out_smem = s["out"], .full = s.barrier("full")}
            .run();
      },
      o);
}

KernelSpec transpose_spec() {
  KernelSpec spec = spec_of(
      "transpose", "out = a transposed (f32), in three steps: plain, swizzled, several columns a thread",
      {"a"}, {"out"});
  spec.sizes = {{"m", 8192, "rows of a"}, {"n", 8192, "columns of a"}};
  spec.settings = {{"variant", "columns", "the step", {"plain", "swizzled", "columns"}},
                   {"tile_m", "64", "rows of a tile", {}},
                   {"tile_n", "64", "columns of a tile", {}},
                   {"ctas", "0", "CTAs of a persistent grid; 0: one a tile", {}},
                   {"stages", "1", "tiles of a persistent CTA on their way in", {}},
                   {"band", "8", "tiles of n in a band of the snake order", {}}};
  spec.build = [](const Choice& choice) { return transpose(config_of(choice)); };
  spec.make_inputs = [](const Choice& choice, uint64_t seed) {
    return normal_inputs({{pl::f32, {choice.size("m"), choice.size("n")}}}, seed);
  };
  spec.reference = reference;
  return spec;
}

}  // namespace palladion::kernels
