#include <gtest/gtest.h>

#include "isa/num/convert.h"
#include "isa/num/pack.h"
#include "tests/isa/num/reference.h"
#include "tests/isa/num/samples.h"

namespace palladion::isa::num {
namespace {

using test::stratified;

constexpr Rounding all_modes[] = {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp};

/// The exact integer of a finite float, rounded by definition with 128-bit integers.
template <class To, class From>
typename To::value_type float_to_integer_by_definition(bits_of<From> b, Rounding r) {
  using Limits = std::numeric_limits<typename To::value_type>;
  if (is_nan<From>(b)) {
    const bool zero = !std::is_same_v<From, F64> && To::width != 64;
    return static_cast<typename To::value_type>(zero ? 0 : std::uint64_t{1} << (To::width - 1));
  }
  const double x = to_double<From>(b);
  if (std::fabs(x) >= 0x1p70) return x < 0 ? Limits::min() : Limits::max();
  __extension__ using Wide = __int128;
  Wide whole = static_cast<Wide>(std::fabs(x));
  const double part = std::fabs(x) - static_cast<double>(whole);
  if (rounds_up<Rounding::rn>(false, whole & 1, part >= 0.5, part != 0 && part != 0.5) && r == Rounding::rn)
    ++whole;
  if (r == Rounding::rm && x < 0 && part != 0) ++whole;
  if (r == Rounding::rp && x > 0 && part != 0) ++whole;
  if (x < 0) whole = -whole;
  if (whole < static_cast<Wide>(Limits::min())) return Limits::min();
  if (whole > static_cast<Wide>(Limits::max())) return Limits::max();
  return static_cast<typename To::value_type>(whole);
}

template <class To, class From>
void check_float_to_integer(const std::vector<bits_of<From>>& inputs) {
  for (const auto b : inputs) {
    for (const Rounding r : all_modes) {
      ASSERT_EQ((cvt<To, From>(b, {.rounding = r})), (float_to_integer_by_definition<To, From>(b, r)))
          << std::hex << std::uint64_t{b} << " mode " << static_cast<int>(r) << " width " << std::dec
          << To::width;
    }
  }
}

template <class From>
void check_all_integers(std::vector<bits_of<From>> inputs) {
  for (const double edge : {0.5, 1.5, 2.5, 127.5, 128.5, 255.5, 32767.5, 65535.5, 2147483647.5, 4294967295.5,
                            0x1p31, 0x1p32, 0x1p63, 0x1p64}) {
    for (const double x :
         {edge, -edge, std::nextafter(edge, 0.0), std::nextafter(edge, 1e30), -std::nextafter(edge, 0.0)})
      inputs.push_back(encode_f64<From>(x));
  }
  check_float_to_integer<U8, From>(inputs);
  check_float_to_integer<S8, From>(inputs);
  check_float_to_integer<U16, From>(inputs);
  check_float_to_integer<S16, From>(inputs);
  check_float_to_integer<U32, From>(inputs);
  check_float_to_integer<S32, From>(inputs);
  check_float_to_integer<U64, From>(inputs);
  check_float_to_integer<S64, From>(inputs);
}

template <class F>
std::vector<bits_of<F>> every() {
  std::vector<bits_of<F>> out;
  for (std::uint32_t b = 0; b < 65536; ++b) out.push_back(static_cast<bits_of<F>>(b));
  return out;
}

TEST(Convert, FloatToIntegerSaturatesAndKnowsNan) {
  check_all_integers<F16>(every<F16>());
  check_all_integers<Bf16>(every<Bf16>());
  check_all_integers<F32>(stratified<F32>(20000));
  check_all_integers<F64>(stratified<F64>(20000));
}

TEST(Convert, FloatToIntegerFlushesOnlyWhenAsked) {
  EXPECT_EQ((cvt<S32, F32>(0x00000001, {.rounding = Rounding::rp})), 1);
  EXPECT_EQ((cvt<S32, F32>(0x00000001, {.rounding = Rounding::rp, .ftz = true})), 0);
  EXPECT_EQ((cvt<S64, F32>(0x7FC00000, {})), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ((cvt<U32, F64>(0x7FF8000000000000, {})), 0x80000000u);
  EXPECT_EQ((cvt<S32, F32>(0x7FC00000, {})), 0);
}

template <class F, class Int>
bits_of<F> host_from_integer(Int value, Rounding r) {
  using V = std::conditional_t<std::is_same_v<F, F64>, double, float>;
  volatile Int v = value;
  volatile V out = 0;
  std::fesetround(test::host_mode(r));
  out = static_cast<V>(v);
  std::fesetround(FE_TONEAREST);
  return std::bit_cast<bits_of<F>>(static_cast<V>(out));
}

template <class Tag>
void check_integer_to_float() {
  using Int = typename Tag::value_type;
  std::mt19937_64 rng(4);
  std::vector<Int> values{
      0, 1, 2, 3, std::numeric_limits<Int>::max(), std::numeric_limits<Int>::min(), static_cast<Int>(-1)};
  for (int bit = 0; bit < Tag::width; ++bit) {
    const auto one = std::uint64_t{1} << bit;
    for (const auto v : {one, one - 1, one + 1, one | one >> 11, one | one >> 12, one | one >> 24,
                         one | one >> 25, one | one >> 24 | 1, one | one >> 53, (one | one >> 53) + 1}) {
      values.push_back(static_cast<Int>(v));
      values.push_back(static_cast<Int>(0 - v));
    }
  }
  for (int i = 0; i < 20000; ++i) values.push_back(static_cast<Int>(rng() >> (rng() % 64)));
  for (const Int v : values) {
    for (const Rounding r : all_modes) {
      const CvtMods m{.rounding = r};
      if (sizeof(Int) >= 4) {
        ASSERT_EQ((cvt<F32, Tag>(v, m)), (host_from_integer<F32>(v, r)))
            << +v << " mode " << static_cast<int>(r);
        ASSERT_EQ((cvt<F64, Tag>(v, m)), (host_from_integer<F64>(v, r)))
            << +v << " mode " << static_cast<int>(r);
      }
      if (sizeof(Int) <= 4) {  // exact in f64
        ASSERT_EQ((cvt<F16, Tag>(v, m)), test::encode_by_definition<F16>(static_cast<double>(v), r, false))
            << +v;
        ASSERT_EQ((cvt<Bf16, Tag>(v, m)), test::encode_by_definition<Bf16>(static_cast<double>(v), r, false))
            << +v;
      } else {  // round to odd at 53 bits, by hand
        const bool negative = v < 0;
        std::uint64_t magnitude =
            negative ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
        if (magnitude >> 53 != 0)
          magnitude = (magnitude & ~std::uint64_t{0xFFF}) | ((magnitude & 0xFFF) != 0 ? 0x1000 : 0);
        const double odd = (negative ? -1.0 : 1.0) * static_cast<double>(magnitude);
        ASSERT_EQ((cvt<F16, Tag>(v, m)), test::encode_by_definition<F16>(odd, r, false)) << +v;
        ASSERT_EQ((cvt<Bf16, Tag>(v, m)), test::encode_by_definition<Bf16>(odd, r, false)) << +v;
      }
    }
  }
}

TEST(Convert, IntegerToFloatInEveryMode) {
  check_integer_to_float<S8>();
  check_integer_to_float<U8>();
  check_integer_to_float<S16>();
  check_integer_to_float<U16>();
  check_integer_to_float<S32>();
  check_integer_to_float<U32>();
  check_integer_to_float<S64>();
  check_integer_to_float<U64>();
}

TEST(Convert, IntegerToIntegerExtendsTruncatesOrSaturates) {
  EXPECT_EQ((cvt<U64, S8>(std::int8_t{-1}, {})), ~std::uint64_t{0})
      << "sign extension comes from the source type";
  EXPECT_EQ((cvt<S64, U32>(0xFFFFFFFFu, {})), 0xFFFFFFFFll);
  EXPECT_EQ((cvt<U8, S32>(-1, {})), 0xFF);
  EXPECT_EQ((cvt<S8, S32>(300, {})), 44);
  EXPECT_EQ((cvt<U8, S32>(-1, {.sat = true})), 0);
  EXPECT_EQ((cvt<S8, U32>(0x80u, {.sat = true})), 127);
  EXPECT_EQ((cvt<S32, U32>(0x80000000u, {.sat = true})), 0x7FFFFFFF);
  EXPECT_EQ((cvt<U32, S64>(std::int64_t{-5}, {.sat = true})), 0u);
  EXPECT_EQ((cvt<S16, S64>(std::numeric_limits<std::int64_t>::min(), {.sat = true})), -32768);
}

TEST(Convert, F64ToF32EqualsTheHostInEveryMode) {
  auto inputs = stratified<F64>(100000);
  for (const auto b : stratified<F32>(20000)) {  // f32 numbers, their midpoints and what lies beside
    const double x = std::bit_cast<float>(b);
    const auto bits = std::bit_cast<std::uint64_t>(x);
    for (const std::uint64_t d : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 28,
                                  (std::uint64_t{1} << 28) + 1, (std::uint64_t{1} << 28) - 1})
      inputs.push_back(bits + d);
  }
  for (const auto b : inputs) {
    if (is_nan<F64>(b)) {
      const auto sign = static_cast<std::uint32_t>(b >> 32 & 0x80000000u);
      const auto payload = static_cast<std::uint32_t>(b >> 29 & 0x3FFFFFu);
      ASSERT_EQ((cvt<F32, F64>(b, {})), sign | 0x7FC00000u | payload) << std::hex << b;
      continue;
    }
    for (const Rounding r : all_modes) {
      volatile double x = std::bit_cast<double>(b);
      volatile float y = 0;
      std::fesetround(test::host_mode(r));
      y = static_cast<float>(x);
      std::fesetround(FE_TONEAREST);
      const auto expected = std::bit_cast<std::uint32_t>(static_cast<float>(y));
      ASSERT_EQ((cvt<F32, F64>(b, {.rounding = r})), expected)
          << std::hex << b << " mode " << static_cast<int>(r);
      const float flushed_value = test::under_flushing(r, [&x] {
        volatile float result = static_cast<float>(x);
        return static_cast<float>(result);
      });
      const auto flushed = std::bit_cast<std::uint32_t>(flushed_value);
      ASSERT_EQ((cvt<F32, F64>(b, {.rounding = r, .ftz = true})), flushed);
    }
  }
}

TEST(Convert, RoundToIntegralKeepsTheTypeAndTheSignOfZero) {
  const auto in_f32 = [](float x, Rounding r) {
    return std::bit_cast<float>(
        cvt<F32, F32>(std::bit_cast<std::uint32_t>(x), {.rounding = r, .integral = true}));
  };
  EXPECT_EQ(in_f32(2.5f, Rounding::rn), 2.0f);
  EXPECT_EQ(in_f32(3.5f, Rounding::rn), 4.0f);
  EXPECT_EQ(in_f32(-2.5f, Rounding::rz), -2.0f);
  EXPECT_EQ(in_f32(-2.5f, Rounding::rm), -3.0f);
  EXPECT_EQ(in_f32(2.1f, Rounding::rp), 3.0f);
  EXPECT_TRUE(std::signbit(in_f32(-0.3f, Rounding::rn)));
  EXPECT_EQ((cvt<F16, F16>(0x3E00, {.integral = true})), 0x4000);  // 1.5 -> 2
  EXPECT_EQ((cvt<Bf16, Bf16>(0xBFC0, {.rounding = Rounding::rp, .integral = true})), 0xBF80);
  EXPECT_EQ((cvt<F64, F64>(std::bit_cast<std::uint64_t>(-1.5), {.rounding = Rounding::rm, .integral = true})),
            std::bit_cast<std::uint64_t>(-2.0));
  EXPECT_EQ((cvt<F32, F32>(0xFFC00001, {.integral = true})), 0x7FFFFFFFu);
  EXPECT_EQ((cvt<F32, F32>(0x80000001, {.rounding = Rounding::rm, .integral = true, .ftz = true})),
            0x80000000u);
}

TEST(Convert, BetweenOneFormatWithoutModifiersMoves) {
  EXPECT_EQ((cvt<F32, F32>(0xFF800001, {})), 0xFF800001u);
  EXPECT_EQ((cvt<F32, F32>(0x00000001, {})), 0x00000001u);
  EXPECT_EQ((cvt<F32, F32>(0xFF800001, {.ftz = true})), F32::canonical_nan);
}

TEST(Convert, NansOfHalvesAreCanonicalEvenWithinOneFormat) {
  EXPECT_EQ((cvt<F16, F16>(0xFC01, {})), F16::canonical_nan);
  EXPECT_EQ((cvt<Bf16, Bf16>(0xFFC1, {})), Bf16::canonical_nan);
  EXPECT_EQ((cvt<F32, Bf16>(0xFFC1, {})), 0xFFC10000u);
  EXPECT_EQ((cvt<F32, Bf16>(0xFFC1, {.ftz = true})), F32::canonical_nan);
}

TEST(Convert, FlushingDoesNotTouchOperandsOfF16) {
  EXPECT_EQ((cvt<F16, F32>(0x00000001, {.rounding = Rounding::rp, .ftz = true})), 0x0001);
  EXPECT_EQ((cvt<F16, F32>(0x80000001, {.rounding = Rounding::rm, .ftz = true})), 0x8001);
}

TEST(Convert, SatReluAndSatfinite) {
  EXPECT_EQ((cvt<F16, F32>(0x40000000, {.sat = true})), F16::one);
  EXPECT_EQ((cvt<F32, F32>(0xFFC00000, {.sat = true})), 0u);
  EXPECT_EQ((cvt<F32, S32>(7, {.sat = true})), F32::one);
  EXPECT_EQ((cvt<F16, F32>(0x7F800000, {.satfinite = true})), 0x7BFF);
  EXPECT_EQ((cvt<F16, F32>(0x7F800000, {})), 0x7C00);
  EXPECT_EQ((cvt<Bf16, F32>(0xFF7FFFFF, {.satfinite = true})), 0xFF7F);
  EXPECT_EQ((cvt<Bf16, F32>(0xFF7FFFFF, {})), 0xFF80);
  EXPECT_EQ((cvt<F16, F32>(0x7FC00000, {.satfinite = true})), 0x7FFF);
  EXPECT_EQ((cvt<F16, F32>(0xBF800000, {.relu = true})), 0);
  EXPECT_EQ((cvt<F16, F32>(0xFFC00000, {.relu = true})), 0x7FFF);
  EXPECT_EQ((cvt<E4m3, F32>(0xFFC00000, {.satfinite = true, .relu = true})), 0x7F);
  EXPECT_EQ((cvt<E4m3, F32>(0xC0000000, {.satfinite = true, .relu = true})), 0);
}

TEST(Convert, Tf32TiesGoAway) {
  EXPECT_EQ((cvt<Tf32, F32>(0x3F801000, {.rounding = Rounding::rna})), 0x3F802000u);
  EXPECT_EQ((cvt<Tf32, F32>(0x3F800FFF, {.rounding = Rounding::rna})), 0x3F800000u);
  EXPECT_EQ((cvt<Tf32, F32>(0xBF801000, {.rounding = Rounding::rna})), 0xBF802000u);
  EXPECT_EQ((cvt<Tf32, F32>(0x3F801000, {.rounding = Rounding::rn})), 0x3F800000u) << "a tie to even";
  EXPECT_EQ((cvt<Tf32, F32>(0x3F803FFF, {.rounding = Rounding::rz})), 0x3F802000u);
  EXPECT_EQ((cvt<Tf32, F32>(0x7F7FFFFF, {.rounding = Rounding::rna})), 0x7F800000u);
  EXPECT_EQ((cvt<Tf32, F32>(0x7F7FFFFF, {.rounding = Rounding::rna, .satfinite = true})), 0x7F7FE000u);
  EXPECT_EQ((cvt<Tf32, F32>(0xFFC00000, {.rounding = Rounding::rn})), 0x7FFFE000u);
  EXPECT_EQ((cvt<Tf32, F32>(0xFFC01234, {.rounding = Rounding::rna})), 0xFFC00000u) << "rna only cuts a NaN";
}

TEST(Convert, PairsPutTheFirstSourceOnTop) {
  const CvtMods sat{.satfinite = true};
  EXPECT_EQ((cvt_pair_from_f32<F16, Rounding::rn>(0x3F800000, 0x40000000, {})), 0x3C004000u);
  EXPECT_EQ((cvt_pair_from_f32<Bf16, Rounding::rz>(0x3F80FFFF, 0x40000000, {})), 0x3F804000u);
  EXPECT_EQ((cvt_pair_from_f32<E4m3, Rounding::rn>(0x43E80000, 0x3F800000, sat)), 0x7E38u);
  EXPECT_EQ((cvt_pair_from_f32<E2m1, Rounding::rn>(0xC0C00000, 0x3F800000, sat)), 0xF2u)
      << "two nibbles in a byte";
  EXPECT_EQ((cvt_pair_from_f32<E2m3, Rounding::rn>(0xFF800000, 0x3F800000, sat)), 0x3F08u)
      << "two zero bits above each";
  EXPECT_EQ((cvt_pair_from_f32<Ue8m0, Rounding::rp>(0x3F800001, 0xC0000000, sat)), 0x8080u);
  EXPECT_EQ((cvt_pair<F16, E4m3, Rounding::rn>(0x7F38, {})), 0x7FFF3C00u);
  EXPECT_EQ((cvt_pair<F16, E5m2, Rounding::rn>(0xFC01, {})), 0xFC000100u) << "e5m2 infinity survives";
  EXPECT_EQ((cvt_pair<F16, E2m1, Rounding::rn>(0x7F, {})), 0x4600C600u);
  EXPECT_EQ((cvt_pair<F16, E2m1, Rounding::rn>(0x7F, {.relu = true})), 0x46000000u);
  EXPECT_EQ((cvt_pair<E5m2, F16, Rounding::rn>(0xFC007BFF, sat)), 0xFB7Bu);
  EXPECT_EQ((cvt_pair<Bf16, Ue8m0, Rounding::rn>(0x00FF, {})), 0x00407FFFu);
  EXPECT_EQ((cvt_pair<Ue8m0, Bf16, Rounding::rz>(0x3F80BFC0, sat)), 0x7F7Fu);
}

TEST(Convert, PackSaturatesIntegers) {
  EXPECT_EQ(cvt_pack_sat(16, true, 40000, -40000), 0x7FFF8000u);
  EXPECT_EQ(cvt_pack_sat(16, false, -1, 70000), 0x0000FFFFu);
  EXPECT_EQ(cvt_pack_sat(8, true, 200, -200, 0xABCD1234), 0x12347F80u);
  EXPECT_EQ(cvt_pack_sat(8, false, -3, 17, 0), 0x0011u);
  EXPECT_EQ(cvt_pack_sat(4, true, 7, -8, 0x5), 0x578u);
  EXPECT_EQ(cvt_pack_sat(2, false, 9, 1, 0xF), 0xFDu);
}

}  // namespace
}  // namespace palladion::isa::num
