// Loads and stores with masks, indices of every kind, windows over an array's end: against plain loops.
#include <fmt/format.h>

#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Layout;
using plgpu::Ref;
using plgpu::Scratch;

constexpr double inf = std::numeric_limits<double>::infinity();

// The first `n` of 256 elements are read and written, of each dtype.
TEST(Masks, LoadAndStoreOfEachDtype) {
  for (const pl::DType d : {pl::s8, pl::u8, pl::s16, pl::s32, pl::s64, pl::f16, pl::bf16, pl::f32, pl::f64}) {
    for (const int64_t n : {1, 100, 127, 255}) {
      SCOPED_TRACE(fmt::format("{} {}", pl::name(d), n));
      const auto kernel = plgpu::kernel(
          [&](const Ref& a, const Ref& o, const Ref& p) {
            const Array index = plgpu::broadcasted_iota(pl::s32, {256}, 0);
            const Array x = pl::load(a, {pl::ds(0, 256)}, index < n, 7);
            o.store(x);
            p.store(plgpu::full({256}, 1, d));
            pl::store(p, {pl::all},
                      plgpu::load(a.at(pl::ds(0, 256)), {.layout = x.layout(), .mask = index < n}),
                      index < n);
          },
          {.in_types = {{d, {n}}}, .out_type = {{d, {256}}, {d, {256}}}});
      const Values a = small_integers(n, 3, 0, 5);
      const auto ran = run(kernel, {a});
      for (int64_t i = 0; i < 256; ++i) {
        const auto at = static_cast<size_t>(i);
        ASSERT_EQ(ran.outputs[0][at], i < n ? a[at] : 7) << i;
        ASSERT_EQ(ran.outputs[1][at], i < n ? a[at] : 1) << i;
      }
    }
  }
}

// A grid whose last tile stands over the end of the array, in GMEM and through a padded layout.
TEST(Masks, TilesOverTheEnd) {
  for (const int64_t n : {1, 5, 128, 300, 511}) {
    for (const int64_t tile : {96, 128, 256}) {
      SCOPED_TRACE(fmt::format("{} in tiles of {}", n, tile));
      const auto kernel = plgpu::kernel(
          [&](const Ref& a, const Ref& o, const Ref& sums) {
            const Ref window = a.at(pl::ds(pl::program_id(0) * tile, tile));
            const Array inside = plgpu::in_bounds(window);
            const Array x = plgpu::load(window, {.mask = inside, .other = 0.0F});
            plgpu::store(o.at(pl::ds(pl::program_id(0) * tile, tile)), x + 1.0F, {.mask = inside});
            sums.at(pl::program_id(0)).store(x.sum_all());
          },
          {.in_types = {{pl::f32, {n}}},
           .out_type = {{pl::f32, {n}}, {pl::f32, {pl::cdiv(n, tile)}}},
           .grid = {pl::cdiv(n, tile)}});
      const Values a = small_integers(n, 5);
      const auto ran = run(kernel, {a});
      Values sums(static_cast<size_t>(pl::cdiv(n, tile)));
      for (size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(ran.outputs[0][i], a[i] + 1) << i;
        sums[i / static_cast<size_t>(tile)] += a[i];
      }
      EXPECT_EQ(ran.outputs[1], sums);
    }
  }
}

// Of a matrix in the tensor core's layout: rows and columns end inside of the tile.
TEST(Masks, MatricesOverBothEnds) {
  constexpr int64_t m = 70, n = 37;
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o) {
        const Ref from = a.at(pl::ds(pl::program_id(0) * 64, 64), pl::ds(0, 64));
        const Array inside = plgpu::in_bounds(from, Layout::WGMMA);
        const Array x = plgpu::load(from, {.mask = inside, .other = -1});
        plgpu::store(o.at(pl::ds(pl::program_id(0) * 64, 64), pl::ds(0, 64)), x * 2, {.mask = inside});
      },
      {.in_types = {{pl::s32, {m, n}}}, .out_type = {pl::s32, {m, n}}, .grid = {2}});
  const Values a = small_integers(m * n, 9);
  const auto ran = run(kernel, {a});
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(ran.outputs[0][i], 2 * a[i]) << i;
}

// Mask and `other` of fewer dimensions broadcast; SMEM; a number as mask.
TEST(Masks, BroadcastMasksInSharedMemory) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o, const Ref& none, Scratch& s) {
        s["x"].store(a.load());
        const Array column = plgpu::broadcasted_iota(pl::s32, {256}, 0);
        const Array value = plgpu::broadcasted_iota(pl::f32, {2, 256}, 1);
        o.store(plgpu::load(s["x"], {.mask = column < 100, .other = value}));
        none.store(plgpu::load(s["x"], {.mask = pl::program_id(0) > 0, .other = 3.0F}));
      },
      {.in_types = {{pl::f32, {2, 256}}},
       .out_type = {{pl::f32, {2, 256}}, {pl::f32, {2, 256}}},
       .scratch_types = {{"x", plgpu::SMEM({2, 256}, pl::f32)}},
       .grid = {1}});
  const Values a = small_integers(512, 4);
  const auto ran = run(kernel, {a});
  for (size_t i = 0; i < 512; ++i) {
    ASSERT_EQ(ran.outputs[0][i], i % 256 < 100 ? a[i] : static_cast<double>(i % 256)) << i;
    ASSERT_EQ(ran.outputs[1][i], 3) << i;
  }
}

// The examples of Pallas' design document: numbers, slices, `:` and index arrays with a mask.
TEST(Masks, IndicesOfTheDesignDocument) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o, const Ref& p, const Ref& q, const Ref& t) {
        pl::store(o, {0, pl::ds(1, 3), pl::all}, pl::load(a, {1, pl::ds(2, 3), pl::all}));
        const Array i = plgpu::broadcasted_iota(pl::s32, {8}, 0);
        p.store(pl::load(a.at(0, 0), {i}, i < 5, -inf));
        // Rows 2 + arange(3), as an array: the rest of the result is iota.
        const Array picked = plgpu::broadcasted_iota(pl::s32, {3}, 0) + 2;
        q.store(pl::load(a, {1, picked, pl::all}));
        // a[arange(2)[:, None], arange(3)[None, :], 4]
        const Array first = plgpu::broadcasted_iota(pl::s32, {2}, 0)[{pl::all, pl::newaxis}];
        const Array second = plgpu::broadcasted_iota(pl::s32, {3}, 0)[{pl::newaxis, pl::all}];
        t.store(pl::load(a, {first, second, 4}));
      },
      {.in_types = {{pl::f32, {2, 6, 8}}},
       .out_type = {{pl::f32, {2, 6, 8}}, {pl::f32, {8}}, {pl::f32, {3, 8}}, {pl::f32, {2, 3}}},
       .input_output_aliases = {{0, 0}}});
  const Values a = iota(96);
  const auto ran = run(kernel, {a});
  const auto at = [&](size_t i, size_t j, size_t k) { return a[(i * 6 + j) * 8 + k]; };
  for (size_t j = 1; j < 4; ++j)
    for (size_t k = 0; k < 8; ++k) EXPECT_EQ(ran.outputs[0][j * 8 + k], at(1, j + 1, k));
  EXPECT_EQ(ran.outputs[0][7], 7);
  for (size_t k = 0; k < 8; ++k) EXPECT_EQ(ran.outputs[1][k], k < 5 ? a[k] : -inf);
  for (size_t j = 0; j < 3; ++j) {
    for (size_t k = 0; k < 8; ++k) EXPECT_EQ(ran.outputs[2][j * 8 + k], at(1, j + 2, k));
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(ran.outputs[3][i * 3 + j], at(i, j, 4));
  }
}

// Index arrays that leave the array where the mask is false; scatter with a mask.
TEST(Masks, GathersAndScatters) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& where, const Ref& o) {
        const Array index = where.load();
        const Array inside = index >= 0 && index < 100;
        const Array x = plgpu::load(a, {index}, inside, -1.0F);
        plgpu::store(o, {plgpu::broadcasted_iota(pl::s32, {256}, 0)}, x, inside);
      },
      {.in_types = {{pl::f32, {100}}, {pl::s32, {256}}},
       .out_type = {pl::f32, {256}},
       .input_output_aliases = {}});
  Values a = iota(100, 1), where(256);
  for (size_t i = 0; i < 256; ++i) where[i] = static_cast<double>((i * 37) % 256) - 50;
  const auto ran = run(kernel, {a, where});
  for (size_t i = 0; i < 256; ++i) {
    const double w = where[i];
    if (w >= 0 && w < 100) {
      ASSERT_EQ(ran.outputs[0][i], a[static_cast<size_t>(w)]) << i;
    }
  }
}

}  // namespace
}  // namespace palladion::test
