#include "isa/formats/tensor_walk.h"

#include "isa/arch/arch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace palladion::isa {
namespace {

// Place of each byte of the tile: where it comes from, or -1 for fill.
using Bytes = std::map<uint32_t, int64_t>;

Bytes bytes_of(const TensorWalk& walk) {
  Bytes out;
  walk.for_each_run([&](const BoxRun& run) {
    for (uint32_t i = 0; i < run.bytes; ++i) {
      const bool fresh = out.emplace(run.tile_offset + i, run.in_bounds ? run.global_offset + i : -1).second;
      EXPECT_TRUE(fresh) << "byte " << run.tile_offset + i << " twice";
    }
  });
  return out;
}

// The manual's definition, an element at a time.
Bytes tiled_by_hand(const TensorMap& m, const std::array<int32_t, 5>& c, uint32_t pitch) {
  Bytes out;
  std::array<uint32_t, 5> n{1, 1, 1, 1, 1};
  for (int i = 0; i < m.rank; ++i) n[i] = m.box_count(i);
  for (uint32_t j4 = 0; j4 < n[4]; ++j4)
    for (uint32_t j3 = 0; j3 < n[3]; ++j3)
      for (uint32_t j2 = 0; j2 < n[2]; ++j2)
        for (uint32_t j1 = 0; j1 < n[1]; ++j1)
          for (uint32_t j0 = 0; j0 < n[0]; ++j0) {
            const uint32_t j[5] = {j0, j1, j2, j3, j4};
            int64_t offset = 0;
            bool inside = true;
            for (int i = 0; i < m.rank; ++i) {
              const int64_t g = int64_t{c[i]} + j[i] * (i == 0 ? 1 : m.element_strides[i]);
              inside = inside && g >= 0 && g < static_cast<int64_t>(m.dims[i]);
              offset += g * (i == 0 ? m.element_bytes() : static_cast<int64_t>(m.strides[i - 1]));
            }
            const uint32_t row = j1 + n[1] * (j2 + n[2] * (j3 + n[3] * j4));
            for (int b = 0; b < m.element_bytes(); ++b)
              out[row * pitch + j0 * m.element_bytes() + b] = inside ? offset + b : -1;
          }
  return out;
}

TensorMap random_map(std::mt19937& rng, int rank) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  constexpr TensorDataType types[] = {TensorDataType::u8, TensorDataType::f16, TensorDataType::f32,
                                      TensorDataType::f64};
  TensorMap m;
  m.rank = rank;
  m.data_type = types[pick(0, 3)];
  uint64_t stride = 0;
  for (int i = 0; i < rank; ++i) {
    m.dims[i] = pick(1, 40);
    m.box[i] = pick(1, i < 2 ? 8 : 3);
    m.element_strides[i] = pick(1, 3);
    stride = i == 0 ? (m.dims[0] * m.element_bytes() + 15) / 16 * 16 : stride * m.dims[i];
    if (i + 1 < rank) m.strides[i] = stride;
  }
  m.box[0] = 16 / m.element_bytes() * pick(1, 4);
  return m;
}

TEST(TensorWalk, BoxesMatchTheDefinition) {
  std::mt19937 rng(7);
  for (int trial = 0; trial < 400; ++trial) {
    const int rank = 1 + trial % 5;
    const TensorMap m = random_map(rng, rank);
    ASSERT_THAT(validate(m, default_arch()), ::testing::IsEmpty());
    std::array<int32_t, 5> c{};
    for (int i = 0; i < rank; ++i)
      c[i] = std::uniform_int_distribution<int>(-10, static_cast<int>(m.dims[i]) + 5)(rng);
    c[0] -= c[0] % (16 / m.element_bytes());
    const auto walk = TensorWalk::tiled(m, std::span(c.data(), rank));
    ASSERT_TRUE(walk) << walk.error().reason;
    const Bytes by_hand = tiled_by_hand(m, c, walk->row_pitch());
    ASSERT_EQ(bytes_of(*walk), by_hand) << "trial " << trial;
    ASSERT_EQ(walk->transaction_bytes(), by_hand.size());
  }
}

TEST(TensorWalk, RowsAreSingleRunsInsideTheTensor) {
  TensorMap m;
  m.data_type = TensorDataType::f16;
  m.rank = 2;
  m.dims = {256, 512};
  m.strides = {512};
  m.box = {64, 64};
  m.swizzle = Swizzle::b128;
  const int32_t at[] = {64, 448};
  const auto walk = *TensorWalk::tiled(m, at);
  int runs = 0;
  walk.for_each_run([&](const BoxRun& run) {
    EXPECT_TRUE(run.in_bounds);
    EXPECT_EQ(run.bytes, 128u);
    EXPECT_EQ(run.tile_offset, runs * 128u);
    EXPECT_EQ(run.global_offset, (448 + runs) * 512 + 128);
    ++runs;
  });
  EXPECT_EQ(runs, 64);
  EXPECT_EQ(walk.transaction_bytes(), 8192u);
}

TEST(TensorWalk, EdgesSplitARow) {
  TensorMap m;
  m.data_type = TensorDataType::f32;
  m.rank = 1;
  m.dims = {6};
  m.box = {12};
  const int32_t at[] = {-4};
  std::vector<std::tuple<uint32_t, uint32_t, bool>> runs;
  TensorWalk::tiled(m, at)->for_each_run(
      [&](const BoxRun& r) { runs.emplace_back(r.tile_offset, r.bytes, r.in_bounds); });
  EXPECT_THAT(runs, ::testing::ElementsAre(std::tuple(0u, 16u, false), std::tuple(16u, 24u, true),
                                           std::tuple(40u, 8u, false)));
}

TEST(TensorWalk, FarCoordinatesAreJustOutside) {
  TensorMap m;
  m.rank = 2;
  m.dims = {uint64_t{1} << 32, 3};
  m.strides = {uint64_t{1} << 32};
  m.box = {16, 2};
  for (int32_t x : {INT32_MIN, INT32_MAX - 15}) {
    const int32_t at[] = {x, INT32_MIN};
    for (const auto& [place, from] : bytes_of(*TensorWalk::tiled(m, at))) EXPECT_EQ(from, -1) << place;
  }
  const int32_t inside[] = {INT32_MAX - 15, 2};
  EXPECT_EQ(bytes_of(*TensorWalk::tiled(m, inside)).begin()->second, (int64_t{2} << 32) + INT32_MAX - 15);
}

// The rest of the coordinates may be anything.
TEST(TensorWalk, RowsStartAtMultiplesOf16Bytes) {
  TensorMap m;
  m.data_type = TensorDataType::f16;
  m.rank = 2;
  m.dims = {64, 64};
  m.strides = {128};
  m.box = {16, 4};
  for (const int32_t x : {-8, 0, 8, 1000}) {
    const int32_t at[] = {x, -3};
    EXPECT_TRUE(TensorWalk::tiled(m, at)) << x;
  }
  for (const int32_t x : {-3, 1, 4, 12}) {
    const int32_t at[] = {x, 0};
    const auto walk = TensorWalk::tiled(m, at);
    ASSERT_FALSE(walk) << x;
    EXPECT_THAT(walk.error().reason, ::testing::HasSubstr("not a multiple of 16 bytes"));
  }
}

TEST(TensorWalk, NarrowRowsTakeTheSwizzlesSpan) {
  TensorMap m;
  m.data_type = TensorDataType::f16;
  m.rank = 2;
  m.dims = {64, 64};
  m.strides = {128};
  m.box = {16, 4};
  m.swizzle = Swizzle::b128;
  const int32_t at[] = {0, 0};
  const auto walk = *TensorWalk::tiled(m, at);
  EXPECT_EQ(walk.row_pitch(), 128u);
  EXPECT_EQ(walk.transaction_bytes(), 128u);
  EXPECT_EQ(walk.footprint_bytes(), 512u);
}

// ---- im2col ---------------------------------------------------------------------------------------

TensorMap image(int rank) {
  TensorMap m;
  m.mode = TensorMapMode::im2col;
  m.data_type = TensorDataType::f16;
  m.rank = rank;
  m.dims = {24, 7, 5, 3, 2};
  if (rank == 4) m.dims = {24, 7, 5, 2, 0};
  if (rank == 3) m.dims = {24, 7, 2, 0, 0};
  uint64_t stride = 48;
  for (int i = 0; i + 1 < rank; ++i) m.strides[i] = stride, stride *= m.dims[i + 1];
  m.lower_corner = {-1, -2, -1};
  m.upper_corner = {-1, 0, -1};
  m.channels_per_pixel = 16;
  m.pixels_per_column = 61;
  return m;
}

// A convolution's own loop nest: all base positions of all images in order, from the given one on.
Bytes im2col_by_hand(const TensorMap& m, std::array<int, 5> start, std::array<int, 3> tap) {
  const int spatial = m.rank - 2;
  std::vector<std::array<int, 4>> positions;  // W, H, D, N
  const auto range = [&](int i) {
    std::vector<int> out;
    if (i >= spatial) return std::vector<int>{0};
    const int upper = static_cast<int>(m.dims[i + 1]) - 1 + m.upper_corner[i];
    for (int x = m.lower_corner[i]; x <= upper; x += static_cast<int>(m.element_strides[i + 1]))
      out.push_back(x);
    return out;
  };
  for (int n = 0; n < 40; ++n)
    for (int d : range(2))
      for (int h : range(1))
        for (int w : range(0)) positions.push_back({w, h, d, n});
  std::array<int, 4> first{start[1], spatial > 1 ? start[2] : 0, spatial > 2 ? start[3] : 0,
                           start[m.rank - 1]};
  auto at = std::find(positions.begin(), positions.end(), first);
  Bytes out;
  for (uint32_t p = 0; p < m.pixels_per_column; ++p, ++at) {
    for (uint32_t c = 0; c < m.channels_per_pixel; ++c) {
      const int64_t channel = start[0] + static_cast<int>(c);
      bool inside = channel >= 0 && channel < static_cast<int64_t>(m.dims[0]);
      int64_t offset = channel * 2;
      for (int i = 0; i < spatial; ++i) {
        const int64_t x = (*at)[i] + tap[i];
        inside = inside && x >= 0 && x < static_cast<int64_t>(m.dims[i + 1]);
        offset += x * static_cast<int64_t>(m.strides[i]);
      }
      inside = inside && (*at)[3] < static_cast<int64_t>(m.dims[m.rank - 1]);
      offset += (*at)[3] * static_cast<int64_t>(m.strides[m.rank - 2]);
      for (int b = 0; b < 2; ++b) out[(p * m.channels_per_pixel + c) * 2 + b] = inside ? offset + b : -1;
    }
  }
  return out;
}

TEST(TensorWalk, Im2colVisitsAConvolutionsPixels) {
  for (int rank : {3, 4, 5}) {
    for (uint32_t step : {1u, 2u}) {
      TensorMap m = image(rank);
      for (int i = 1; i + 1 < rank; ++i) m.element_strides[i] = step;
      std::array<int32_t, 5> c{16, 1, 0, 1, 0};
      c[rank - 1] = 0;
      if (rank == 3) c[1] = 1;
      for (uint16_t tap : {0, 1, 2}) {
        const std::array<uint16_t, 3> taps{tap, 1, 2};
        const auto walk = TensorWalk::im2col(m, std::span(c.data(), rank),
                                             std::span(taps.data(), static_cast<size_t>(rank - 2)));
        ASSERT_TRUE(walk) << walk.error().reason;
        std::array<int, 5> start{};
        std::copy(c.begin(), c.end(), start.begin());
        ASSERT_EQ(bytes_of(*walk), im2col_by_hand(m, start, {tap, 1, 2}))
            << "rank " << rank << " step " << step;
      }
    }
  }
}

// ---- stores ---------------------------------------------------------------------------------------

TEST(TensorWalk, RowsOfStoresEndAtMultiplesOf16Bytes) {
  TensorMap m;
  m.rank = 2;
  m.dims = {300, 3};
  m.strides = {512};
  m.box = {64, 4};
  const int32_t at[] = {272, 0};
  const auto load = *TensorWalk::tiled(m, at);
  const auto store = load.for_store();
  ASSERT_TRUE(store) << store.error().reason;
  const auto last_inside = [](const TensorWalk& walk) {
    int64_t last = -1;
    for (const auto& [place, from] : bytes_of(walk)) last = std::max(last, from);
    return last;
  };
  EXPECT_EQ(last_inside(load), 2 * 512 + 299);
  EXPECT_EQ(last_inside(*store), 2 * 512 + 303);
  const int32_t beyond[] = {304, 0};
  EXPECT_EQ(last_inside(*TensorWalk::tiled(m, beyond)->for_store()), -1);
}

TEST(TensorWalk, StoresKnowNothingBeforeTheTensor) {
  TensorMap m;
  m.rank = 2;
  m.dims = {64, 64};
  m.strides = {64};
  m.box = {16, 4};
  const int32_t left[] = {-16, 0}, above[] = {0, -1}, beyond[] = {64, 1000};
  EXPECT_THAT(TensorWalk::tiled(m, left)->for_store().error().reason,
              ::testing::HasSubstr("coordinate 0 is -16"));
  EXPECT_THAT(TensorWalk::tiled(m, above)->for_store().error().reason,
              ::testing::HasSubstr("coordinate 1 is -1"));
  EXPECT_TRUE(TensorWalk::tiled(m, beyond)->for_store());
  TensorMap i = image(3);
  const int32_t at[] = {0, 1, 0};
  EXPECT_THAT(TensorWalk::im2col(i, at, {})->for_store().error().reason,
              ::testing::HasSubstr("box of dimension 1 is -1 to 5"));
  i.lower_corner = {1};
  EXPECT_TRUE(TensorWalk::im2col(i, at, {})->for_store());
  i.upper_corner = {1};
  EXPECT_FALSE(TensorWalk::im2col(i, at, {})->for_store());
}

TEST(TensorWalk, SaysWhatDoesNotFit) {
  TensorMap m;
  m.rank = 2;
  m.dims = {16, 16};
  m.strides = {16};
  m.box = {16, 1};
  const int32_t at[] = {0, 0, 0};
  EXPECT_THAT(TensorWalk::tiled(m, at).error().reason,
              ::testing::HasSubstr("3 coordinates but the tensor map has rank 2"));
  EXPECT_THAT(TensorWalk::im2col(m, at, {}).error().reason, ::testing::HasSubstr("made for .tile"));
  m.interleave = Interleave::b16;
  EXPECT_TRUE(TensorWalk::tiled(m, std::span(at, 2)).error().is_unsupported);
  const uint16_t taps[] = {0};
  EXPECT_THAT(TensorWalk::im2col(image(4), std::array<int32_t, 4>{}, taps).error().reason,
              ::testing::HasSubstr("1 im2col offsets for rank 4, it needs 2"));
}

}  // namespace
}  // namespace palladion::isa
