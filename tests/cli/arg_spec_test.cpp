#include "verify/launch/arg_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

namespace palladion::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
T parsed(std::string_view text) {
  const auto arg = parse_arg(text);
  EXPECT_TRUE(arg) << (arg ? "" : arg.error());
  return arg ? std::get<T>(*arg) : T{};
}

std::string error_of(std::string_view text) {
  const auto arg = parse_arg(text);
  EXPECT_FALSE(arg) << text << " was taken";
  return arg ? "" : arg.error();
}

template <class T>
T scalar(std::string_view text) {
  const auto arg = parsed<ScalarArg>(text);
  T value{};
  EXPECT_EQ(arg.bytes.size(), sizeof value) << text;
  std::memcpy(&value, arg.bytes.data(), std::min(sizeof value, arg.bytes.size()));
  return value;
}

TEST(ArgSpec, ScalarsHaveTheBytesOfTheirType) {
  EXPECT_EQ(scalar<int32_t>("i32:-5"), -5);
  EXPECT_EQ(scalar<int32_t>("s32:0x10"), 16);
  EXPECT_EQ(scalar<uint64_t>("u64:18446744073709551615"), ~0ull);
  EXPECT_EQ(scalar<uint8_t>("u8:255"), 255);
  EXPECT_EQ(scalar<float>("f32:0.5"), 0.5f);
  EXPECT_EQ(scalar<double>("f64:-1e300"), -1e300);
  EXPECT_EQ(scalar<uint16_t>("f16:1"), 0x3C00);
  EXPECT_EQ(scalar<uint16_t>("bf16:1"), 0x3F80);
}

TEST(ArgSpec, ScalarsThatDoNotFitAreRefused) {
  EXPECT_THAT(error_of("u8:256"), HasSubstr("does not fit u8"));
  EXPECT_THAT(error_of("i8:128"), HasSubstr("does not fit s8"));
  EXPECT_THAT(error_of("u32:-1"), HasSubstr("does not fit u32"));
  EXPECT_THAT(error_of("i32:1.5"), HasSubstr("is not an integer"));
  EXPECT_THAT(error_of("f32:one"), HasSubstr("is not a number"));
}

TEST(ArgSpec, Arrays) {
  const auto in = parsed<ArrayArg>("in:f16[512,256]=randn(7)");
  EXPECT_EQ(in.role, Role::in);
  EXPECT_EQ(in.type, (pl::ShapeDtype{pl::f16, {512, 256}}));
  EXPECT_EQ(in.fill->kind, Fill::Kind::randn);
  EXPECT_EQ(in.fill->seed, 7u);
  EXPECT_EQ(parsed<ArrayArg>("inout:f32[3]=const(-0.5)").fill->value, -0.5);
  EXPECT_EQ(parsed<ArrayArg>("in:i32[3]=randint(1,-2,5)").fill->low, -2);
  EXPECT_EQ(parsed<ArrayArg>("in:bf16[4]=some/file.npy").file, "some/file.npy");
  EXPECT_EQ(parsed<ArrayArg>("out:f16[2,2]=c.npy").file, "c.npy");
  EXPECT_EQ(parsed<ArrayArg>("out:f16[2,2]").file, "");
  EXPECT_EQ(parsed<ArrayArg>("scratch:u8[4096]").role, Role::scratch);
}

TEST(ArgSpec, WrongArraysSayWhatWasExpected) {
  EXPECT_THAT(error_of("in:f16[4]"), HasSubstr("an input needs contents"));
  EXPECT_THAT(error_of("in:f16[4]="), HasSubstr("nothing stands after"));
  EXPECT_THAT(error_of("in:f16[4]=randn(x)"), HasSubstr("randn(seed)"));
  EXPECT_THAT(error_of("in:half[4]=zeros"), HasSubstr("`half` is not an element type"));
  EXPECT_THAT(error_of("in:f16[4,0]=zeros"), HasSubstr("`0` is not a positive integer"));
  EXPECT_THAT(error_of("in:f16=zeros"), HasSubstr("expected a type and a shape"));
  EXPECT_THAT(error_of("in:f64[99999999,99999999]=zeros"), HasSubstr("more memory"));
  EXPECT_THAT(error_of("scratch:u8[4]=zeros"), HasSubstr("scratch starts as zeros"));
  EXPECT_THAT(error_of("blob:5"), HasSubstr("`blob` is not a kind of argument"));
  EXPECT_THAT(error_of("5"), HasSubstr("expected a scalar"));
  EXPECT_THAT(error_of("bytes:file"), HasSubstr("bytes:@file"));
}

TEST(ArgSpec, TensorMapsAreInnermostFirstInTheMapAndOutermostFirstInTheText) {
  const auto arg =
      parsed<TensorMapArg>("tmap:f16[512,256]@0,box=64x32,swizzle=64,stride=320,oob=nan,l2=128,offset=64");
  EXPECT_EQ(arg.over, 0);
  const auto map = tensor_map_of(arg).value();
  EXPECT_EQ(map.rank, 2);
  EXPECT_EQ(map.dims[0], 256u);
  EXPECT_EQ(map.dims[1], 512u);
  EXPECT_EQ(map.box[0], 32u);
  EXPECT_EQ(map.box[1], 64u);
  EXPECT_EQ(map.strides[0], 640u);
  EXPECT_EQ(map.swizzle, isa::Swizzle::b64);
  EXPECT_EQ(map.oob_fill, isa::OobFill::nan_request_zero_fma);
  EXPECT_EQ(map.l2_promotion, isa::L2Promotion::b128);
  EXPECT_EQ(map.global_address, 64u);
  EXPECT_EQ(tensor_map_of(parsed<TensorMapArg>("tmap:f32[2,3,4]@1,box=1x1x4")).value().strides[1], 48u);
}

TEST(ArgSpec, ATensorMapMayBringItsArray) {
  const auto arg = parsed<TensorMapArg>("tmap:in:f16[64,64]=randint(1,0,5),box=64x64,swizzle=128");
  ASSERT_TRUE(arg.array);
  EXPECT_EQ(arg.array->fill->high, 5);
  EXPECT_THAT(arg.box, ElementsAre(64, 64));
}

TEST(ArgSpec, WrongTensorMaps) {
  EXPECT_THAT(error_of("tmap:f16[64,64],box=64x64"), HasSubstr("needs an array"));
  EXPECT_THAT(error_of("tmap:f16[64,64]@0"), HasSubstr("needs a box"));
  EXPECT_THAT(error_of("tmap:f16[64,64]@0,box=64"), HasSubstr("1 sizes, the array 2"));
  EXPECT_THAT(error_of("tmap:f16[64,64]@0,box=64x64,swizzle=48"), HasSubstr("swizzle `48`"));
  EXPECT_THAT(error_of("tmap:f16[64,64]@0,box=64x64,swirl=48"), HasSubstr("no option `swirl`"));
  EXPECT_THAT(error_of("tmap:f16[1,1,1,1,1,1]@0,box=1x1x1x1x1x1"), HasSubstr("1 to 5 dimensions"));
}

TEST(ArgSpec, ATextureIsOutermostFirst) {
  const auto arg = parsed<TextureArg>("tex:f32[48,64]=randn(7)");
  EXPECT_FALSE(arg.surface);
  ASSERT_TRUE(arg.array);
  EXPECT_EQ(arg.array->role, Role::in);
  const sim::ImageLevel& level = arg.texture.image.levels.front();
  EXPECT_EQ(arg.texture.image.geometry, isa::Geometry::d2);
  EXPECT_EQ(level.width, 64U);
  EXPECT_EQ(level.height, 48U);
  EXPECT_EQ(level.pitch, 256U);
  const auto& cubes = parsed<TextureArg>("tex:u8[12,5,5,4]@3,channels=4,geometry=acube").texture.image;
  EXPECT_EQ(cubes.levels.front().depth, 12U);
  EXPECT_EQ(cubes.format.bytes(), 4U);
  const auto& lines = parsed<TextureArg>("tex:f16[3,9]=zeros,geometry=a1d").texture.image;
  EXPECT_EQ(lines.levels.front().width, 9U);
  EXPECT_EQ(lines.levels.front().depth, 3U);
  EXPECT_TRUE(parsed<TextureArg>("tex:f32[9]=zeros,geometry=linear").texture.image.linear_memory);
}

TEST(ArgSpec, HowATextureIsSampled) {
  const auto arg = parsed<TextureArg>(
      "tex:u8[4,8]@1,filter=linear,address=wrap/border,coords=normalized,read=normalized,border=0.5");
  const sim::Sampling& s = arg.texture.sampling;
  EXPECT_EQ(arg.over, 1);
  EXPECT_TRUE(s.linear && s.normalized && s.as_float);
  EXPECT_THAT(s.address,
              ElementsAre(sim::AddressMode::wrap, sim::AddressMode::border, sim::AddressMode::border));
  EXPECT_THAT(s.border, ElementsAre(0.5F, 0.5F, 0.5F, 0.5F));
  EXPECT_THAT(parsed<TextureArg>("tex:f32[4,8]@1,border=1/2").texture.sampling.border,
              ElementsAre(1.0F, 2.0F, 0.0F, 0.0F));
}

TEST(ArgSpec, ASurfaceHasARole) {
  const auto arg = parsed<TextureArg>("surf:out:f32[4,8]=c.npy");
  EXPECT_TRUE(arg.surface);
  ASSERT_TRUE(arg.array);
  EXPECT_EQ(arg.array->role, Role::out);
  EXPECT_EQ(arg.array->file, "c.npy");
  EXPECT_EQ(parsed<TextureArg>("surf:f32[4,8]@2").over, 2);
}

TEST(ArgSpec, WrongTexturesSayWhatWasExpected) {
  EXPECT_THAT(error_of("tex:f32[4,8]"), HasSubstr("needs contents"));
  EXPECT_THAT(error_of("tex:f64[4,8]@0"), HasSubstr("not f64"));
  EXPECT_THAT(error_of("tex:f32[4,8]@0,filter=cubic"), HasSubstr("expected point, linear"));
  EXPECT_THAT(error_of("tex:f32[4,8]@0,colour=red"), HasSubstr("no option `colour`"));
  EXPECT_THAT(error_of("tex:f32[4,8]@0,channels=3"), HasSubstr("expected 1, 2, 4"));
  EXPECT_THAT(error_of("tex:f32[4,8]@0,channels=4"), HasSubstr("last size"));
  EXPECT_THAT(error_of("tex:f32[4,8]@0,geometry=3d"), HasSubstr("2 sizes, an image of this geometry 3"));
  EXPECT_THAT(error_of("tex:f32[6,4,8]@0,geometry=cube"), HasSubstr("6 square faces"));
  EXPECT_THAT(error_of("tex:u8[4,8]@0,filter=linear"), HasSubstr("read=normalized"));
  EXPECT_THAT(error_of("tex:f32[4,8]@0,address=wrap/x"), HasSubstr("`x`"));
  EXPECT_THAT(error_of("tex:f32[4,8]@0,border=red"), HasSubstr("not a number"));
  EXPECT_THAT(error_of("surf:f32[4,8]=zeros"), HasSubstr("in:, out: or inout:"));
  EXPECT_THAT(error_of("surf:f32[4,8]@0,filter=linear"), HasSubstr("a surface has no option `filter`"));
  EXPECT_THAT(error_of("surf:f32[4]@0,geometry=linear"), HasSubstr("no geometry `linear`"));
}

TEST(ArgSpec, Dimensions) {
  EXPECT_EQ(parse_dims("4").value(), (isa::Dim3{4, 1, 1}));
  EXPECT_EQ(parse_dims("4,2").value(), (isa::Dim3{4, 2, 1}));
  EXPECT_EQ(parse_dims("4x2x3").value(), (isa::Dim3{4, 2, 3}));
  for (const char* wrong : {"", "0", "1,2,3,4", "a", "4,,1", "99999999999"})
    EXPECT_FALSE(parse_dims(wrong)) << wrong;
}

}  // namespace
}  // namespace palladion::cli
