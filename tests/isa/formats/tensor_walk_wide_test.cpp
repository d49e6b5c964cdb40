// What tensor copies of sm_100 add: four rows, packed types, im2col along W alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/formats/tensor_walk.h"

namespace palladion::isa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ArchSpec chip_of(int sm) {
  ArchSpec a = default_arch();
  a.sm = sm;
  return a;
}

TensorMap matrix_of(TensorDataType type, uint64_t columns, uint64_t rows, uint32_t box, uint64_t pitch) {
  TensorMap m;
  m.data_type = type;
  m.rank = 2;
  m.dims = {columns, rows};
  m.strides = {pitch};
  m.box = {box, 1};
  return m;
}

std::vector<BoxRun> runs_of(const TensorWalk& walk) {
  std::vector<BoxRun> runs;
  walk.for_each_run([&](const BoxRun& run) { runs.push_back(run); });
  return runs;
}

// --- four rows --------------------------------------------------------------------------------------------
TEST(FourRows, EachFromItsPlace) {
  const TensorMap m = matrix_of(TensorDataType::f16, 100, 40, 64, 256);
  const auto walk = TensorWalk::four_rows(m, std::array<int32_t, 5>{8, 30, 2, 39, 2});
  ASSERT_TRUE(walk) << walk.error().reason;
  EXPECT_EQ(walk->transaction_bytes(), 4U * 128);
  const auto runs = runs_of(*walk);
  ASSERT_EQ(runs.size(), 4U);
  const std::array<int64_t, 4> rows = {30, 2, 39, 2};
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(runs[i].tile_offset, i * 128);
    EXPECT_EQ(runs[i].bytes, 128U);
    EXPECT_TRUE(runs[i].in_bounds);
    EXPECT_EQ(runs[i].global_offset, rows[i] * 256 + 16);
  }
}

TEST(FourRows, OutsideTheTensor) {
  const TensorMap m = matrix_of(TensorDataType::f16, 100, 40, 64, 256);
  const auto walk = TensorWalk::four_rows(m, std::array<int32_t, 5>{64, -1, 40, 0, 39});
  ASSERT_TRUE(walk);
  const auto runs = runs_of(*walk);
  ASSERT_EQ(runs.size(), 6U);  // two rows are filled, of two the end
  EXPECT_FALSE(runs[0].in_bounds || runs[1].in_bounds);
  EXPECT_EQ(runs[2].bytes, 72U);
  EXPECT_FALSE(runs[3].in_bounds);
  EXPECT_THAT(walk->for_store().error().reason, HasSubstr("row -1"));
}

TEST(FourRows, WhatDoesNotFit) {
  TensorMap m = matrix_of(TensorDataType::f16, 100, 40, 64, 256);
  EXPECT_THAT(TensorWalk::four_rows(m, std::array<int32_t, 2>{0, 1}).error().reason, HasSubstr("four rows"));
  m.box[1] = 4;
  EXPECT_THAT(TensorWalk::four_rows(m, std::array<int32_t, 5>{}).error().reason, HasSubstr("must be 1"));
  m.rank = 3;
  EXPECT_THAT(TensorWalk::four_rows(m, std::array<int32_t, 5>{}).error().reason, HasSubstr("rank 3"));
}

// --- packed types -----------------------------------------------------------------------------------------
TEST(PackedTypes, DenseNibbles) {
  TensorMap m = matrix_of(TensorDataType::u4x16_align8b, 192, 3, 64, 96);
  m.box[1] = 2;
  EXPECT_THAT(validate(m, chip_of(100)), IsEmpty());
  EXPECT_THAT(validate(m, chip_of(90)), ElementsAre(HasSubstr("needs sm_100")));
  const auto walk = TensorWalk::tiled(m, std::array<int32_t, 2>{160, 1});
  ASSERT_TRUE(walk) << walk.error().reason;
  EXPECT_EQ(walk->transaction_bytes(), 64U);
  const auto runs = runs_of(*walk);
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[0].global_offset, 96 + 80);
  EXPECT_EQ(runs[0].bytes, 16U);
  EXPECT_FALSE(runs[1].in_bounds);
  EXPECT_THAT(TensorWalk::tiled(m, std::array<int32_t, 2>{16, 0}).error().reason, HasSubstr("16 bytes"));
}

// Sixteen elements take 16 bytes of shared memory; the mbarrier counts those that hold something.
TEST(PackedTypes, PaddedToSixteenBytes) {
  for (const auto& [type, bytes] :
       {std::pair{TensorDataType::u4x16_align16b, 8U}, std::pair{TensorDataType::u6x16_align16b, 12U}}) {
    TensorMap m = matrix_of(type, 256, 4, 128, 16 * bytes);
    m.box[1] = 2;
    m.swizzle = Swizzle::b128;
    EXPECT_THAT(validate(m, chip_of(100)), IsEmpty());
    const auto walk = TensorWalk::tiled(m, std::array<int32_t, 2>{128, 3});
    ASSERT_TRUE(walk) << walk.error().reason;
    EXPECT_EQ(walk->transaction_bytes(), 2 * 8 * bytes);
    EXPECT_EQ(walk->row_bytes(), 128U);
    EXPECT_EQ(walk->footprint_bytes(), 256U);
    const auto runs = runs_of(*walk);
    ASSERT_EQ(runs.size(), 16U);
    for (uint32_t k = 0; k < 8; ++k) {
      EXPECT_EQ(runs[k].tile_offset, 16 * k);
      EXPECT_EQ(runs[k].bytes, bytes);
      EXPECT_EQ(runs[k].global_offset, 3 * 16 * bytes + (8 + k) * bytes);
      EXPECT_FALSE(runs[8 + k].in_bounds);  // row 4
    }
    EXPECT_THAT(TensorWalk::tiled(m, std::array<int32_t, 2>{32, 0}).error().reason,
                HasSubstr("multiple of 128"));
  }
}

TEST(PackedTypes, DirectionsOfSwizzlesAndTypes) {
  TensorMap m = matrix_of(TensorDataType::u6x16_align16b, 256, 4, 128, 192);
  EXPECT_EQ(why_not_copied(m, true), "");
  EXPECT_EQ(why_not_copied(m, false), "");
  m.swizzle = Swizzle::b128_atom_64b;
  EXPECT_THAT(why_not_copied(m, true), HasSubstr("for stores only"));
  EXPECT_EQ(why_not_copied(m, false), "");
  m.data_type = TensorDataType::u4x16_align16b;
  m.swizzle = Swizzle::none;
  EXPECT_THAT(why_not_copied(m, false), HasSubstr("for loads only"));
  m.data_type = TensorDataType::f32;
  m.swizzle = Swizzle::b128_atom_32b_flip_8b;
  EXPECT_EQ(why_not_copied(m, true), "");
  EXPECT_THAT(why_not_copied(m, false), HasSubstr("for loads only"));
}

TEST(PackedTypes, Swizzle96NeedsItsChip) {
  TensorMap m = matrix_of(TensorDataType::u8, 256, 4, 96, 256);
  m.swizzle = Swizzle::b96;
  EXPECT_THAT(validate(m, chip_of(103)), IsEmpty());
  EXPECT_THAT(validate(m, chip_of(100)), ElementsAre(HasSubstr("needs sm_103")));
}

// --- im2col along W ---------------------------------------------------------------------------------------
// NHWC, W 7, with a bounding box of one pixel less at the end of W.
TensorMap wide_image(TensorMapMode mode) {
  TensorMap m;
  m.mode = mode;
  m.data_type = TensorDataType::f16;
  m.rank = 4;
  m.dims = {64, 7, 9, 30};
  m.strides = {128, 128 * 7, 128 * 63};
  m.lower_corner = {-1, 0, 0};
  m.upper_corner = {-1, 0, 0};
  m.channels_per_pixel = 64;
  m.pixels_per_column = 40;
  m.swizzle = Swizzle::b128;
  return m;
}

void check_wide(TensorMapMode mode, uint32_t pixels, int32_t first, int stride, uint16_t offset) {
  TensorMap m = wide_image(mode);
  m.element_strides[1] = static_cast<uint32_t>(stride);
  ASSERT_THAT(validate(m, chip_of(100)), IsEmpty());
  const auto walk = TensorWalk::im2col_wide(m, std::array<int32_t, 4>{0, first, 5, 2}, 0, offset);
  ASSERT_TRUE(walk) << walk.error().reason;
  EXPECT_EQ(walk->transaction_bytes(), pixels * 128);
  const auto runs = runs_of(*walk);
  ASSERT_EQ(runs.size(), pixels);
  int w = first, n = 2;  // the box is W -1 to 5
  for (uint32_t p = 0; p < pixels; ++p) {
    const int at = w + offset;
    const bool inside = at >= 0 && at < 7 && n < 30;
    EXPECT_EQ(runs[p].in_bounds, inside) << p;
    if (inside) {
      EXPECT_EQ(runs[p].global_offset, ((n * 9 + 5) * 7 + at) * 128) << p;
    }
    w += stride;
    if (w > 5) w = -1, ++n;
  }
}

TEST(Im2colWide, FollowsWThenTheNextImage) {
  check_wide(TensorMapMode::im2col_w, 40, 3, 1, 0);
  check_wide(TensorMapMode::im2col_w, 40, -1, 1, 2);
  check_wide(TensorMapMode::im2col_w, 40, -3, 2, 1);
  check_wide(TensorMapMode::im2col_w_128, 128, 3, 1, 0);
  check_wide(TensorMapMode::im2col_w_128, 128, 0, 3, 1);
}

TEST(Im2colWide, WhatDoesNotFit) {
  TensorMap m = wide_image(TensorMapMode::im2col_w);
  const std::array<int32_t, 4> at{};
  EXPECT_TRUE(TensorWalk::im2col_wide(m, at, 1, 0).error().is_unsupported);
  EXPECT_THAT(TensorWalk::im2col_wide(m, at, 0, 32).error().reason, HasSubstr("wOffset is 32"));
  EXPECT_THAT(TensorWalk::im2col(m, at, {}).error().reason, HasSubstr("made for .im2col::w"));
  EXPECT_THAT(TensorWalk::tiled(m, at).error().reason, HasSubstr("made for .im2col::w"));
  EXPECT_THAT(validate(m, chip_of(90)), ElementsAre(HasSubstr(".im2col::w needs sm_100")));
  m.swizzle = Swizzle::none;
  EXPECT_THAT(validate(m, chip_of(100)), ElementsAre(HasSubstr("swizzle none cannot be used")));
  m.swizzle = Swizzle::b128;
  EXPECT_EQ(decode_tensor_map(encode(m).bytes).value(), m);
}

}  // namespace
}  // namespace palladion::isa
