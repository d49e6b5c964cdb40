#include "isa/formats/tensor_map.h"

#include "isa/arch/arch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace palladion::isa {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A 512 x 256 f16 matrix in 64 x 64 boxes with a 128B swizzle.
// An H200 of another compute capability.
ArchSpec chip(int sm) {
  ArchSpec arch = default_arch();
  arch.sm = sm;
  return arch;
}

TensorMap matrix() {
  TensorMap m;
  m.data_type = TensorDataType::f16;
  m.rank = 2;
  m.global_address = 0x7f0000000000;
  m.dims = {256, 512};
  m.strides = {512};
  m.box = {64, 64};
  m.swizzle = Swizzle::b128;
  return m;
}

TensorMap image() {  // NHWC, 64 channels, 3x3 filter with padding 1
  TensorMap m;
  m.mode = TensorMapMode::im2col;
  m.data_type = TensorDataType::bf16;
  m.rank = 4;
  m.global_address = 0x1000;
  m.dims = {64, 28, 28, 8};
  m.strides = {128, 128 * 28, 128 * 28 * 28};
  m.lower_corner = {-1, -1};
  m.upper_corner = {-1, -1};
  m.channels_per_pixel = 64;
  m.pixels_per_column = 128;
  m.swizzle = Swizzle::b128;
  return m;
}

TEST(TensorMap, AcceptsOrdinaryMaps) {
  EXPECT_THAT(validate(matrix(), chip(90)), IsEmpty());
  EXPECT_THAT(validate(image(), chip(90)), IsEmpty());
}

struct RuleCase {
  const char* rule;
  std::function<void(TensorMap&)> breaks;
  const char* says;
  bool im2col = false;
};
void PrintTo(const RuleCase& c, std::ostream* os) { *os << c.rule; }

class BrokenRule : public ::testing::TestWithParam<RuleCase> {};

TEST_P(BrokenRule, IsNamedAlone) {
  TensorMap m = GetParam().im2col ? image() : matrix();
  GetParam().breaks(m);
  EXPECT_THAT(validate(m, chip(90)), ElementsAre(HasSubstr(GetParam().says)));
}

const RuleCase cases[] = {
    {"rank_zero", [](TensorMap& m) { m.rank = 0; }, "rank is 0, it must be 1 to 5"},
    {"rank_six", [](TensorMap& m) { m.rank = 6; }, "rank is 6"},
    {"interleave_rank", [](TensorMap& m) { m.interleave = Interleave::b16; },
     "interleaved layout needs at least 3"},
    {"im2col_rank", [](TensorMap& m) { m.rank = 2; }, "im2col needs 3, 4 or 5", true},
    {"address", [](TensorMap& m) { m.global_address += 8; }, "not a multiple of 16 bytes"},
    {"dim_zero", [](TensorMap& m) { m.dims[1] = 0; }, "dimension 1 has size 0"},
    {"dim_huge", [](TensorMap& m) { m.dims[0] = (1ull << 32) + 1; }, "dimension 0 has size 4294967297"},
    {"stride_unit", [](TensorMap& m) { m.strides[0] = 520; },
     "stride of dimension 1 is 520 bytes, not a multiple"},
    {"stride_huge", [](TensorMap& m) { m.strides[0] = 1ull << 40; }, "must be below 2^40"},
    {"box_zero", [](TensorMap& m) { m.box[1] = 0; }, "box dimension 1 is 0"},
    {"box_huge", [](TensorMap& m) { m.box[1] = 257; }, "box dimension 1 is 257, it must be 1 to 256"},
    {"box_inner", [](TensorMap& m) { m.box[0] = 60; }, "120 bytes, not a multiple of 16"},
    {"box_span", [](TensorMap& m) { m.box[0] = 128; },
     "256 bytes, more than the 128 bytes that swizzle 128B spans"},
    {"span_64", [](TensorMap& m) { m.swizzle = Swizzle::b64; }, "more than the 64 bytes that swizzle 64B"},
    {"element_stride", [](TensorMap& m) { m.element_strides[1] = 9; }, "element stride of dimension 1 is 9"},
    {"element_stride_zero", [](TensorMap& m) { m.element_strides[1] = 0; },
     "element stride of dimension 1 is 0"},
    {"nan_fill",
     [](TensorMap& m) {
       m.data_type = TensorDataType::u16;
       m.oob_fill = OobFill::nan_request_zero_fma;
     },
     "NaN fill of out-of-bounds elements needs a floating-point"},
    {"atoms_of_100", [](TensorMap& m) { m.swizzle = Swizzle::b128_atom_32b; },
     "swizzle 128B_ATOM_32B needs sm_100"},
    {"corner", [](TensorMap& m) { m.lower_corner[1] = -129; },
     "lower corner 1 of a rank-4 im2col map is -129", true},
    {"upper_corner", [](TensorMap& m) { m.upper_corner[0] = 128; }, "it must be -128 to 127", true},
    {"empty_box",
     [](TensorMap& m) {
       m.dims[2] = 4;
       m.upper_corner[1] = -5;
     },
     "bounding box is empty in dimension 2", true},
    {"channels", [](TensorMap& m) { m.channels_per_pixel = 0; }, "channels per pixel is 0", true},
    {"pixels", [](TensorMap& m) { m.pixels_per_column = 1025; }, "pixels per column is 1025", true},
    {"volume",
     [](TensorMap& m) {
       m.rank = 3;
       m.strides[1] = 1 << 20;
       m.dims[2] = 64;
       m.box = {64, 256, 8};
     },
     "the box is 262144 bytes, more than the 233472 bytes of shared memory"},
    {"volume_im2col",
     [](TensorMap& m) {
       m.channels_per_pixel = 128;
       m.pixels_per_column = 913;
       m.swizzle = Swizzle::none;
     },
     "the column of pixels is 233728 bytes", true},
    {"im2col_dim", [](TensorMap& m) { m.dims[1] = uint64_t{1} << 31; }, "im2col needs less than 2^31", true},
};
INSTANTIATE_TEST_SUITE_P(TensorMap, BrokenRule, ::testing::ValuesIn(cases),
                         [](const auto& broken) { return std::string(broken.param.rule); });

// As the driver on an H200 counts: 65 rows with stride 2 are 32, although 33 are copied.
TEST(TensorMap, VolumeCountsWholeStrides) {
  TensorMap m = matrix();
  m.rank = 3;
  m.swizzle = Swizzle::none;
  m.strides[1] = 1 << 20;
  m.dims[2] = 256;
  m.box = {64, 65, 57};
  m.element_strides = {1, 2, 1, 1, 1};
  EXPECT_EQ(m.box_count(1), 33u);
  EXPECT_THAT(validate(m, chip(90)), IsEmpty());
  m.box = {64, 66, 57};
  EXPECT_THAT(validate(m, chip(90)), ElementsAre(HasSubstr("the box is 240768 bytes")));
}

TEST(TensorMap, CornersNarrowWithRank) {
  TensorMap m = image();
  m.rank = 3;
  m.lower_corner = {-30000};
  m.upper_corner = {-1};
  EXPECT_THAT(validate(m, chip(90)), IsEmpty());
  m.rank = 5;
  m.dims = {64, 28, 28, 28, 2};
  m.strides = {128, 3584, 100352, 2809856};
  m.lower_corner = {-16, -1, -17};
  EXPECT_THAT(validate(m, chip(90)), ElementsAre(HasSubstr("lower corner 2 of a rank-5 im2col map is -17")));
}

TEST(TensorMap, Interleave32WantsItsSwizzleAndAlignment) {
  TensorMap m = image();
  m.mode = TensorMapMode::tiled;
  m.box = {16, 8, 8, 1};
  m.interleave = Interleave::b32;
  m.global_address = 0x1010;
  m.strides[0] = 144;
  EXPECT_THAT(
      validate(m, chip(90)),
      ElementsAre(HasSubstr("global address 0x1010 is not a multiple of 32 bytes with INTERLEAVE_32B"),
                  HasSubstr("144 bytes, not a multiple of 32"),
                  HasSubstr("INTERLEAVE_32B needs swizzle 32B")));
}

TEST(TensorMap, PackedTypesHaveTheirOwnRules) {
  TensorMap m = matrix();
  m.data_type = TensorDataType::u6x16_align16b;
  m.dims = {256, 512};
  m.box = {128, 8};
  EXPECT_THAT(validate(m, chip(100)), IsEmpty());
  EXPECT_THAT(validate(m, chip(90)), ElementsAre(HasSubstr("16U6_ALIGN16B needs sm_100")));
  m.box[0] = 64;
  m.dims[0] = 192;
  m.swizzle = Swizzle::b64;
  EXPECT_THAT(validate(m, chip(100)),
              ElementsAre(HasSubstr("needs a multiple of 128"), HasSubstr("needs exactly 128"),
                          HasSubstr("swizzle 64B cannot be used with 16U6_ALIGN16B")));
  m = matrix();
  m.data_type = TensorDataType::u4x16_align8b;
  m.dims[0] = 255;
  m.box[0] = 128;
  EXPECT_THAT(validate(m, chip(100)), ElementsAre(HasSubstr("needs a multiple of 2")));
}

TEST(TensorMap, ReportsAllMistakesAtOnce) {
  TensorMap m = matrix();
  m.global_address += 1;
  m.box = {0, 300};
  EXPECT_EQ(validate(m, chip(90)).size(), 3u);
}

TEST(TensorMap, EncodingRoundTrips) {
  TensorMap wide = image();
  wide.rank = 5;
  wide.dims = {uint64_t{1} << 32, 1, 77, 3, 9};
  wide.strides = {16, 32, (uint64_t{1} << 40) - 16, 48};
  wide.element_strides = {1, 2, 8, 1, 3};
  wide.lower_corner = {-16, 15, -1};
  wide.oob_fill = OobFill::nan_request_zero_fma;
  wide.l2_promotion = L2Promotion::b256;
  for (const TensorMap& m : {matrix(), image(), wide}) {
    const auto decoded = decode_tensor_map(encode(m).bytes);
    ASSERT_TRUE(decoded) << decoded.error();
    EXPECT_EQ(*decoded, m);
  }
  for (int s = 0; s < swizzle_count; ++s) {
    TensorMap m = matrix();
    m.swizzle = static_cast<Swizzle>(s);
    EXPECT_EQ(decode_tensor_map(encode(m).bytes)->swizzle, m.swizzle);
  }
}

TEST(TensorMap, ForeignBytesAreRefused) {
  EncodedTensorMap zeros;
  EXPECT_THAT(decode_tensor_map(zeros.bytes).error(), HasSubstr("not a tensor map"));
  EncodedTensorMap m = encode(matrix());
  m.bytes[9] |= std::byte{0x18};  // interleave 3
  EXPECT_THAT(decode_tensor_map(m.bytes).error(), HasSubstr("does not exist"));
  for (const int at : {8, 11, 30, 54}) {  // in words 1, 3 and 6
    m = encode(matrix());
    m.bytes[static_cast<size_t>(at)] |= std::byte{0x8C};
    EXPECT_THAT(decode_tensor_map(m.bytes).error(), HasSubstr("not a tensor map")) << at;
  }
}

// CuTe DSL writes words 0 to 7, sets bit 1 of word 1, and bit 21 for tensors of 128 KiB and more.
TEST(TensorMap, BytesOfCuteDslAreRead) {
  for (const TensorMap& map : {matrix(), image()}) {
    EncodedTensorMap m = encode(map);
    m.bytes[8] |= std::byte{0x02};
    m.bytes[10] |= std::byte{0x20};
    for (size_t i = 64; i < m.bytes.size(); ++i) m.bytes[i] = static_cast<std::byte>(0xA5 + 7 * i);
    EXPECT_EQ(*decode_tensor_map(m.bytes), map);
    EXPECT_TRUE(replace_field(m.bytes, TensorMapField::global_address, 0, 0x4000));
    EXPECT_EQ(decode_tensor_map(m.bytes)->global_address, 0x4000);
  }
}

TEST(TensorMapReplace, SetsEachField) {
  EncodedTensorMap e = encode(matrix());
  const auto set = [&](const char* field, int ordinal, uint64_t value) {
    const auto done = replace_field(e.bytes, *tensor_map_field_named(field), ordinal, value);
    EXPECT_TRUE(done) << done.error();
  };
  set("global_address", 0, 0x10000);
  set("rank", 0, 2);
  set("box_dim", 2, 4);
  set("global_dim", 2, 1000);
  set("global_stride", 1, 4096);
  set("element_stride", 1, 2);
  set("elemtype", 0, 10);  // bf16 in tensormap.replace, 9 in the driver
  set("interleave_layout", 0, 0);
  set("swizzle_mode", 0, 2);
  set("fill_mode", 0, 1);
  set("swizzle_atomicity", 0, 0);
  TensorMap expected = matrix();
  expected.global_address = 0x10000;
  expected.rank = 3;
  expected.box[2] = 4;
  expected.dims[2] = 1000;
  expected.strides[1] = 4096;
  expected.element_strides[1] = 2;
  expected.data_type = TensorDataType::bf16;
  expected.swizzle = Swizzle::b64;
  expected.oob_fill = OobFill::nan_request_zero_fma;
  EXPECT_EQ(*decode_tensor_map(e.bytes), expected);
}

TEST(TensorMapReplace, SwizzleModeAndAtomicityMeetWhenTheMapIsUsed) {
  EncodedTensorMap e = encode(matrix());
  ASSERT_TRUE(replace_field(e.bytes, TensorMapField::swizzle_atomicity, 0, 3));
  EXPECT_EQ(decode_tensor_map(e.bytes)->swizzle, Swizzle::b128_atom_64b);
  ASSERT_TRUE(replace_field(e.bytes, TensorMapField::swizzle_mode, 0, 1));
  EXPECT_THAT(decode_tensor_map(e.bytes).error(),
              HasSubstr("swizzle mode 1 does not exist with atomicity 3"));
}

TEST(TensorMapReplace, RefusesWhatDoesNotExist) {
  EncodedTensorMap e = encode(matrix());
  EXPECT_THAT(replace_field(e.bytes, TensorMapField::global_stride, 4, 16).error(), HasSubstr("ordinal 4"));
  EXPECT_THAT(replace_field(e.bytes, TensorMapField::elemtype, 0, 16).error(), HasSubstr("outside 0..15"));
  EncodedTensorMap other;
  other.bytes[11] = std::byte{1};
  EXPECT_THAT(replace_field(other.bytes, TensorMapField::rank, 0, 1).error(), HasSubstr("not a tensor map"));
  EXPECT_FALSE(tensor_map_field_named("colour"));
}

TEST(TensorMapReplace, MakesAMapOfZerosFieldByField) {
  TensorMap expected = matrix();
  expected.l2_promotion = L2Promotion::none;  // no instruction sets it
  EncodedTensorMap e;
  const auto set = [&](const char* field, int ordinal, uint64_t value) {
    const auto done = replace_field(e.bytes, *tensor_map_field_named(field), ordinal, value);
    EXPECT_TRUE(done) << done.error();
  };
  set("rank", 0, static_cast<uint64_t>(expected.rank) - 1);
  EXPECT_THAT(validate(*decode_tensor_map(e.bytes), chip(90)), Not(IsEmpty()));  // the others are missing
  set("global_address", 0, expected.global_address);
  set("elemtype", 0, replace_number(expected.data_type));
  set("swizzle_mode", 0, 3);
  for (int i = 0; i < expected.rank; ++i) {
    set("box_dim", i, expected.box[i]);
    set("global_dim", i, expected.dims[i]);
    set("element_stride", i, expected.element_strides[i]);
    if (i > 0) set("global_stride", i - 1, expected.strides[i - 1]);
  }
  TensorMap map = *decode_tensor_map(e.bytes);
  expected.swizzle = Swizzle::b128;
  for (int i = expected.rank; i < max_tensor_rank; ++i) map.element_strides[i] = 1;  // not part of the map
  EXPECT_EQ(map, expected);
  EXPECT_THAT(validate(map, chip(90)), IsEmpty());
}

TEST(TensorMapReplace, RefusesWhatDoesNotFit) {
  EncodedTensorMap e = encode(matrix());
  const auto error = [&](TensorMapField field, uint64_t value) {
    const auto done = replace_field(e.bytes, field, 1, value);
    return done ? "" : done.error();
  };
  EXPECT_EQ(error(TensorMapField::box_dim, 100000), "value 100000 of .box_dim is outside 1..256");
  EXPECT_EQ(error(TensorMapField::box_dim, 0), "value 0 of .box_dim is outside 1..256");
  EXPECT_EQ(error(TensorMapField::element_stride, 9), "value 9 of .element_stride is outside 1..8");
  EXPECT_EQ(error(TensorMapField::rank, 8), "value 8 of .rank is outside 0..7");
  EXPECT_EQ(error(TensorMapField::global_stride, uint64_t{1} << 40),
            "value 1099511627776 of .global_stride is outside 0..1099511627775");
  EXPECT_EQ(*decode_tensor_map(e.bytes), matrix());  // nothing was written
  EXPECT_EQ(error(TensorMapField::rank, 5), "");
  EXPECT_THAT(validate(*decode_tensor_map(e.bytes), chip(90)), Contains(HasSubstr("rank is 6")));
}

// The instructions that ptxas 13.0 makes of .elemtype for sm_90a: only tf32 touches the bit of tf32.
TEST(TensorMapReplace, OnlyTf32TouchesItsBit) {
  EncodedTensorMap e = encode(matrix());
  ASSERT_TRUE(replace_field(e.bytes, TensorMapField::elemtype, 0, 11));
  EXPECT_EQ(decode_tensor_map(e.bytes)->data_type, TensorDataType::tf32);
  ASSERT_TRUE(replace_field(e.bytes, TensorMapField::elemtype, 0, 7));
  EXPECT_EQ(decode_tensor_map(e.bytes)->data_type, TensorDataType::tf32);
}

TEST(TensorDataTypes, ReplaceNumbersDifferFromTheDrivers) {
  EXPECT_EQ(replace_number(TensorDataType::f32_ftz), 8u);
  EXPECT_EQ(replace_number(TensorDataType::f64), 9u);
  EXPECT_EQ(replace_number(TensorDataType::bf16), 10u);
  for (int i = 0; i < tensor_data_type_count; ++i) {
    const auto type = static_cast<TensorDataType>(i);
    EXPECT_EQ(data_type_of_replace_number(replace_number(type)), type) << name(type);
  }
  EXPECT_EQ(tensor_data_type(Type::e4m3), TensorDataType::u8);
  EXPECT_EQ(tensor_data_type(Type::bf16), TensorDataType::bf16);
  EXPECT_FALSE(tensor_data_type(Type::pred));
}

}  // namespace
}  // namespace palladion::isa
