#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "isa/num/convert.h"
#include "isa/num/storage.h"
#include "tests/isa/num/reference.h"
#include "tests/isa/num/samples.h"

namespace palladion::isa::num {
namespace {

using test::encode_by_definition;

template <class F>
class SmallFormat : public testing::Test {};
using SmallFormats = testing::Types<F16, Bf16, Tf32, E4m3, E5m2, E2m3, E3m2, E2m1>;
TYPED_TEST_SUITE(SmallFormat, SmallFormats);

template <class F>
std::uint64_t code_count() {
  return std::uint64_t{1} << (1 + F::exp_bits + F::man_bits);
}

TYPED_TEST(SmallFormat, EveryValueSurvivesARoundTripThroughF32AndF64) {
  using F = TypeParam;
  for (std::uint64_t code = 0; code < code_count<F>(); ++code) {
    const auto b = static_cast<bits_of<F>>(code << F::pad);
    const std::uint64_t expected = is_nan<F>(b) ? F::canonical_nan : b;
    ASSERT_EQ(encode_f32<F>(to_f32_bits<F>(b)), expected) << std::hex << code;
    ASSERT_EQ((encode_f64<F, Rounding::rz>(to_double<F>(b))), expected) << std::hex << code;
    ASSERT_EQ(std::isnan(to_double<F>(b)), is_nan<F>(b));
    ASSERT_EQ(std::isinf(to_double<F>(b)), is_inf<F>(b));
  }
}

TYPED_TEST(SmallFormat, DecodeFollowsTheDefinition) {
  using F = TypeParam;
  for (std::uint64_t code = 0; code < code_count<F>(); ++code) {
    const auto b = static_cast<bits_of<F>>(code << F::pad);
    if (is_nan<F>(b) || is_inf<F>(b)) continue;
    const std::uint64_t magnitude = code & (code_count<F>() / 2 - 1);
    const auto field = static_cast<int>(magnitude >> F::man_bits);
    const double man = static_cast<double>(magnitude & F::man_mask) +
                       (field != 0 ? static_cast<double>(F::man_mask + 1) : 0.0);
    const double value = std::ldexp(man, (field != 0 ? field : 1) - F::bias - F::man_bits);
    ASSERT_EQ(to_double<F>(b), is_negative<F>(b) ? -value : value);
    ASSERT_EQ(std::signbit(to_double<F>(b)), is_negative<F>(b));
  }
}

TYPED_TEST(SmallFormat, ConstantEvaluationAgreesWithTheRunTimePath) {
  using F = TypeParam;
  for (std::uint64_t code = 0; code < code_count<F>(); ++code) {
    const auto b = static_cast<bits_of<F>>(code << F::pad);
    if (std::is_same_v<F, Bf16> && is_nan<F>(b)) continue;
    ASSERT_EQ(detail::widen_to_f32<F>(b), to_f32_bits<F>(b));
  }
}

template <class F, Rounding R>
void check_encoder(const std::vector<std::uint32_t>& inputs) {
  for (const std::uint32_t x : inputs) {
    for (const bool satfinite : {false, true}) {
      const std::uint64_t expected = encode_by_definition<F>(std::bit_cast<float>(x), R, satfinite);
      const std::uint64_t fast = encode_f32<F, R>(x, satfinite);
      const std::uint64_t integer = detail::encode_from_f32<F, R>(x, satfinite);
      ASSERT_EQ(fast, expected) << std::hex << x << " mode " << static_cast<int>(R) << " satfinite "
                                << satfinite;
      ASSERT_EQ(integer, expected) << std::hex << x << " mode " << static_cast<int>(R) << " satfinite "
                                   << satfinite;
    }
  }
}

/// Every value of F, every midpoint, and the f32 numbers beside them.
template <class F>
std::vector<std::uint32_t> boundaries() {
  std::vector<std::uint32_t> out;
  for (std::uint64_t magnitude = 0; magnitude <= F::max_magnitude + 1; ++magnitude) {
    const auto here = detail::widen_to_f32<F>(
        static_cast<bits_of<F>>(std::min<std::uint64_t>(magnitude, F::max_magnitude) << F::pad));
    const auto below =
        detail::widen_to_f32<F>(static_cast<bits_of<F>>((magnitude == 0 ? 0 : magnitude - 1) << F::pad));
    float middle = 0.5f * std::bit_cast<float>(here) + 0.5f * std::bit_cast<float>(below);
    if (magnitude > F::max_magnitude) {  // the first value that overflows
      const double past =
          std::ldexp(static_cast<double>((F::max_magnitude & F::man_mask) + F::man_mask + 1) + 0.5,
                     F::emax - F::man_bits);
      middle = static_cast<float>(past);
    }
    for (const std::uint32_t centre : {here, std::bit_cast<std::uint32_t>(middle)}) {
      for (const std::uint32_t x : {centre - 1, centre, centre + 1}) {
        out.push_back(x & 0x7FFFFFFF);
        out.push_back(x | 0x80000000);
      }
    }
  }
  return out;
}

TYPED_TEST(SmallFormat, EncodersRoundAsDefinedAtEveryBoundary) {
  using F = TypeParam;
  std::vector<std::uint32_t> inputs = test::stratified<F32>(30000);
  for (const std::uint32_t x : boundaries<F>()) inputs.push_back(x);
  check_encoder<F, Rounding::rn>(inputs);
  check_encoder<F, Rounding::rz>(inputs);
  check_encoder<F, Rounding::rm>(inputs);
  check_encoder<F, Rounding::rp>(inputs);
  check_encoder<F, Rounding::rna>(inputs);
}

TYPED_TEST(SmallFormat, F64IsRoundedOnlyOnce) {
  using F = TypeParam;
  std::mt19937_64 rng(7);
  std::vector<double> inputs;
  for (std::uint64_t magnitude = 0; magnitude < F::max_magnitude;
       magnitude += F::max_magnitude > 4096 ? 17 : 1) {
    const double low = to_double<F>(static_cast<bits_of<F>>(magnitude << F::pad));
    const double high = to_double<F>(static_cast<bits_of<F>>((magnitude + 1) << F::pad));
    const double middle = low + (high - low) / 2;
    for (const double x :
         {middle, std::nextafter(middle, low), std::nextafter(middle, high), std::nextafter(low, high)}) {
      inputs.push_back(x);
      inputs.push_back(-x);
    }
  }
  for (const std::uint64_t b : test::stratified<F64>(2000)) inputs.push_back(std::bit_cast<double>(b));
  for (const double x : inputs) {
    ASSERT_EQ((encode_f64<F, Rounding::rn>(x)), encode_by_definition<F>(x, Rounding::rn, false))
        << std::hexfloat << x;
    ASSERT_EQ((encode_f64<F, Rounding::rz>(x)), encode_by_definition<F>(x, Rounding::rz, false))
        << std::hexfloat << x;
    ASSERT_EQ((encode_f64<F, Rounding::rm>(x)), encode_by_definition<F>(x, Rounding::rm, false))
        << std::hexfloat << x;
    ASSERT_EQ((encode_f64<F, Rounding::rp>(x, true)), encode_by_definition<F>(x, Rounding::rp, true))
        << std::hexfloat << x;
  }
}

TYPED_TEST(SmallFormat, TheIntegerCoreAgreesWithTheEncoders) {
  using F = TypeParam;
  std::mt19937_64 rng(3);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t sig = rng() >> (11 + rng() % 50);
    const int exp = static_cast<int>(rng() % 300) - 200;
    const bool negative = (rng() & 1) != 0;
    const double x = (negative ? -1 : 1) * std::ldexp(static_cast<double>(sig), exp);
    if (sig == 0) continue;
    ASSERT_EQ((round_pack<F, Rounding::rn>(negative, exp, sig, false)), (encode_f64<F, Rounding::rn>(x)))
        << std::hexfloat << x;
    ASSERT_EQ((round_pack<F, Rounding::rp>(negative, exp, sig, false)), (encode_f64<F, Rounding::rp>(x)))
        << std::hexfloat << x;
    ASSERT_EQ((round_pack<F, Rounding::rm>(negative, exp, sig, false, true)),
              (encode_f64<F, Rounding::rm>(x, true)))
        << std::hexfloat << x;
  }
}

TEST(Formats, ConstantsAreThoseOfTheManual) {
  EXPECT_EQ(to_double<F16>(F16::max_finite), 65504.0);
  EXPECT_EQ(to_double<E4m3>(E4m3::max_finite), 448.0);
  EXPECT_EQ(to_double<E5m2>(E5m2::max_finite), 57344.0);
  EXPECT_EQ(to_double<E2m3>(E2m3::max_finite), 7.5);
  EXPECT_EQ(to_double<E3m2>(E3m2::max_finite), 28.0);
  EXPECT_EQ(to_double<E2m1>(E2m1::max_finite), 6.0);
  EXPECT_EQ(Bf16::max_finite, 0x7F7F);
  EXPECT_EQ(Tf32::max_finite, 0x7F7FE000u);
  EXPECT_EQ(F64::infinity, 0x7FF0000000000000u);
}

TEST(Formats, StorageTypesAreUsableInArraysAndConstants) {
  static_assert(f16_t(1.5f).bits == 0x3E00);
  static_assert(float(bf16_t(1.00390625f)) == 1.0f);  // a tie to even
  static_assert(e4m3_t(1000.0f).bits == 0x7E);
  static_assert(f16_t(65520.0f).bits == F16::infinity);
  std::vector<f16_t> v(3);
  v[0] = 2.0f;
  v[1] = f16_t::from_bits(0x4200);
  EXPECT_EQ(v[0] + v[1], 5.0f);
  EXPECT_EQ(static_cast<int>(e2m1_t(5.0f).bits), 6);  // tie between 4 and 6 goes to the even code
}

/// Rows recorded from CUDA's own host headers: f32, then its code in each small format.
TEST(Formats, RecordedHostReferenceRows) {
  std::ifstream file(std::string(PLD_SOURCE_DIR) + "/tests/isa/num/data/cvt_host_reference.csv");
  ASSERT_TRUE(file) << "cvt_host_reference.csv is missing";
  std::string line;
  std::getline(file, line);
  int rows = 0;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    std::vector<std::uint32_t> cells;
    for (std::string cell; std::getline(in, cell, ',');)
      cells.push_back(static_cast<std::uint32_t>(std::stoul(cell, nullptr, 16)));
    ASSERT_EQ(cells.size(), 8u) << line;
    const CvtMods mods{.satfinite = true};
    EXPECT_EQ((cvt<E4m3, F32>(cells[0], mods)), cells[1]) << line;
    EXPECT_EQ((cvt<E5m2, F32>(cells[0], mods)), cells[2]) << line;
    EXPECT_EQ((cvt<E2m3, F32>(cells[0], mods)), cells[3]) << line;
    EXPECT_EQ((cvt<E3m2, F32>(cells[0], mods)), cells[4]) << line;
    EXPECT_EQ((cvt<E2m1, F32>(cells[0], mods)), cells[5]) << line;
    EXPECT_EQ((cvt<Ue8m0, F32>(cells[0], {.rounding = Rounding::rz, .satfinite = true})), cells[6]) << line;
    EXPECT_EQ((cvt<Ue8m0, F32>(cells[0], {.rounding = Rounding::rp, .satfinite = true})), cells[7]) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 42);
}

}  // namespace
}  // namespace palladion::isa::num
