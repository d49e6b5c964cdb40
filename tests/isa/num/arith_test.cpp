#include <gtest/gtest.h>

#include <algorithm>

#include "isa/num/arith.h"
#include "isa/num/order.h"
#include "tests/isa/num/reference.h"
#include "tests/isa/num/samples.h"

namespace palladion::isa::num {
namespace {

using test::corners;
using test::neighbour;
using test::under;

template <class F>
using value_of = std::conditional_t<std::is_same_v<F, F64>, double, float>;

template <class F>
struct Triple {
  bits_of<F> a, b, c;
};

/// Corners in all combinations, then random operands whose exponents make sums and products meet.
template <class F>
std::vector<Triple<F>> triples(int random_count) {
  std::vector<Triple<F>> out;
  const auto edge = corners<F>();
  for (const auto a : edge) {
    for (const auto b : edge) {
      for (const auto c : edge) out.push_back({a, b, c});
    }
  }
  std::mt19937_64 rng(11);
  for (int i = 0; i < random_count; ++i) {
    const auto a = static_cast<bits_of<F>>(rng());
    const auto b = (i & 1) != 0 ? static_cast<bits_of<F>>(rng()) : neighbour<F>(a, rng, F::man_bits + 4);
    const auto product = static_cast<int>((a & F::magnitude_mask) >> F::man_bits) +
                         static_cast<int>((b & F::magnitude_mask) >> F::man_bits) - F::bias;
    const int field = product < 0 ? 0
                      : product > static_cast<int>(F::exp_field_max) - 1
                          ? static_cast<int>(F::exp_field_max) - 1
                          : product;
    const auto near_product = static_cast<bits_of<F>>(static_cast<bits_of<F>>(field) << F::man_bits);
    out.push_back(
        {a, b,
         (i & 2) != 0 ? static_cast<bits_of<F>>(rng()) : neighbour<F>(near_product, rng, 2 * F::man_bits)});
    if ((i & 7) == 0) {  // c nearly cancels the product
      const value_of<F> p = std::bit_cast<value_of<F>>(a) * std::bit_cast<value_of<F>>(b);
      out.push_back(
          {a, b, static_cast<bits_of<F>>((std::bit_cast<bits_of<F>>(p) ^ F::sign_mask) + rng() % 3 - 1)});
    }
  }
  return out;
}

template <class F>
bits_of<F> canonical_host(value_of<F> x, bits_of<F> a, bits_of<F> b, bits_of<F> c) {
  if (x != x) return std::is_same_v<F, F64> ? static_cast<bits_of<F>>(nan_f64(a, b, c)) : F::canonical_nan;
  return std::bit_cast<bits_of<F>>(x);
}

/// The host's own instruction under its own rounding mode.
template <class F, class Fn>
bits_of<F> host(Rounding r, const Triple<F>& t, int operands, Fn fn) {
  volatile value_of<F> a = std::bit_cast<value_of<F>>(t.a);
  volatile value_of<F> b = std::bit_cast<value_of<F>>(t.b);
  volatile value_of<F> c = std::bit_cast<value_of<F>>(t.c);
  volatile value_of<F> x = 0;
  std::fesetround(test::host_mode(r));
  x = fn(static_cast<value_of<F>>(a), static_cast<value_of<F>>(b), static_cast<value_of<F>>(c));
  std::fesetround(FE_TONEAREST);
  return canonical_host<F>(x, t.a, operands > 1 ? t.b : 0, operands > 2 ? t.c : 0);
}

template <class F, Rounding R>
void check_against_host(const std::vector<Triple<F>>& inputs) {
  constexpr ArithMods m{R};
  using V = value_of<F>;
  for (const auto& t : inputs) {
    ASSERT_EQ((add<F, m>(t.a, t.b)), (host<F>(R, t, 2, [](V a, V b, V) { return a + b; })))
        << "add " << std::hex << t.a << ' ' << t.b << " mode " << static_cast<int>(R);
    ASSERT_EQ((sub<F, m>(t.a, t.b)), (host<F>(R, t, 2, [](V a, V b, V) { return a - b; })))
        << "sub " << std::hex << t.a << ' ' << t.b << " mode " << static_cast<int>(R);
    ASSERT_EQ((mul<F, m>(t.a, t.b)), (host<F>(R, t, 2, [](V a, V b, V) { return a * b; })))
        << "mul " << std::hex << t.a << ' ' << t.b << " mode " << static_cast<int>(R);
    ASSERT_EQ((fma<F, m>(t.a, t.b, t.c)), (host<F>(R, t, 3, [](V a, V b, V c) { return std::fma(a, b, c); })))
        << "fma " << std::hex << t.a << ' ' << t.b << ' ' << t.c << " mode " << static_cast<int>(R);
    // Of two NaNs division prefers the dividend, so the operands are swapped.
    ASSERT_EQ((div<F, m>(t.a, t.b)),
              (host<F>(R, Triple<F>{t.b, t.a, t.c}, 2, [](V b, V a, V) { return a / b; })))
        << "div " << std::hex << t.a << ' ' << t.b << " mode " << static_cast<int>(R);
    ASSERT_EQ((sqrt<F, m>(t.a)), (host<F>(R, t, 1, [](V a, V, V) { return std::sqrt(a); })))
        << "sqrt " << std::hex << t.a << " mode " << static_cast<int>(R);
    ASSERT_EQ((rcp<F, m>(t.a)), (host<F>(R, t, 1, [](V a, V, V) { return V{1} / a; })))
        << "rcp " << std::hex << t.a << " mode " << static_cast<int>(R);
  }
}

TEST(Arith, F32EqualsTheHostInEveryRoundingMode) {
  const auto inputs = triples<F32>(300000);
  check_against_host<F32, Rounding::rn>(inputs);
  check_against_host<F32, Rounding::rz>(inputs);
  check_against_host<F32, Rounding::rm>(inputs);
  check_against_host<F32, Rounding::rp>(inputs);
}

TEST(Arith, F64EqualsTheHostInEveryRoundingMode) {
  const auto inputs = triples<F64>(100000);
  check_against_host<F64, Rounding::rn>(inputs);
  check_against_host<F64, Rounding::rz>(inputs);
  check_against_host<F64, Rounding::rm>(inputs);
  check_against_host<F64, Rounding::rp>(inputs);
}

/// soft.h is checked here against the host too, because halves rely on it below.
template <class F>
bits_of<F> soft_or_nan(std::optional<bits_of<F>> r, bool nan_operand) {
  return nan_operand ? F::canonical_nan : r.value_or(F::canonical_nan);
}

TEST(Arith, IntegerCoreEqualsTheFastForms) {
  for (const auto& t : triples<F32>(100000)) {
    if (is_nan<F32>(t.a) || is_nan<F32>(t.b) || is_nan<F32>(t.c)) continue;
    ASSERT_EQ((soft_or_nan<F32>(soft::fma<F32, Rounding::rn>(t.a, t.b, t.c), false)),
              (fma<F32>(t.a, t.b, t.c)))
        << std::hex << t.a << ' ' << t.b << ' ' << t.c;
    ASSERT_EQ((soft_or_nan<F32>(soft::fma<F32, Rounding::rm>(t.a, t.b, t.c), false)),
              (fma<F32, ArithMods{Rounding::rm}>(t.a, t.b, t.c)));
    ASSERT_EQ((soft_or_nan<F32>(soft::add<F32, Rounding::rn>(t.a, t.b), false)), (add<F32>(t.a, t.b)));
    ASSERT_EQ((soft_or_nan<F32>(soft::div<F32, Rounding::rn>(t.a, t.b), false)), (div<F32>(t.a, t.b)));
    ASSERT_EQ((soft_or_nan<F32>(soft::sqrt<F32, Rounding::rp>(t.a), false)),
              (sqrt<F32, ArithMods{Rounding::rp}>(t.a)));
  }
  for (const auto& t : triples<F64>(50000)) {
    if (is_nan<F64>(t.a) || is_nan<F64>(t.b) || is_nan<F64>(t.c)) continue;
    ASSERT_EQ((soft_or_nan<F64>(soft::fma<F64, Rounding::rn>(t.a, t.b, t.c), false)),
              (fma<F64>(t.a, t.b, t.c)));
    ASSERT_EQ((soft_or_nan<F64>(soft::mul<F64, Rounding::rn>(t.a, t.b), false)), (mul<F64>(t.a, t.b)));
  }
}

template <class F>
std::vector<Triple<F>> half_triples(int random_count) {
  std::vector<Triple<F>> out;
  const auto edge = corners<F>();
  for (const auto a : edge) {
    for (const auto b : edge) {
      for (const auto c : edge) out.push_back({a, b, c});
    }
  }
  std::mt19937_64 rng(5);
  for (int i = 0; i < random_count; ++i) {
    const auto a = static_cast<bits_of<F>>(rng());
    const auto b = (i & 1) != 0 ? static_cast<bits_of<F>>(rng()) : neighbour<F>(a, rng, F::man_bits + 2);
    out.push_back(
        {a, b, (i & 2) != 0 ? static_cast<bits_of<F>>(rng()) : neighbour<F>(b, rng, 2 * F::man_bits)});
  }
  return out;
}

template <class F>
void check_half() {
  for (const auto& t : half_triples<F>(1500000)) {
    const bool nan2 = is_nan<F>(t.a) || is_nan<F>(t.b);
    const bool nan3 = nan2 || is_nan<F>(t.c);
    ASSERT_EQ((add<F>(t.a, t.b)), (soft_or_nan<F>(soft::add<F, Rounding::rn>(t.a, t.b), nan2)))
        << std::hex << t.a << ' ' << t.b;
    ASSERT_EQ((sub<F>(t.a, t.b)), (soft_or_nan<F>(soft::add<F, Rounding::rn>(t.a, t.b ^ F::sign_mask), nan2)))
        << std::hex << t.a << ' ' << t.b;
    ASSERT_EQ((mul<F>(t.a, t.b)), (soft_or_nan<F>(soft::mul<F, Rounding::rn>(t.a, t.b), nan2)))
        << std::hex << t.a << ' ' << t.b;
    ASSERT_EQ((fma<F>(t.a, t.b, t.c)), (soft_or_nan<F>(soft::fma<F, Rounding::rn>(t.a, t.b, t.c), nan3)))
        << std::hex << t.a << ' ' << t.b << ' ' << t.c;
  }
}

TEST(Arith, F16IsRoundedOnce) { check_half<F16>(); }
TEST(Arith, Bf16IsRoundedOnce) { check_half<Bf16>(); }

TEST(Arith, FlushToZeroAppliesToOperandsAndResults) {
  constexpr ArithMods ftz{.ftz = true};
  EXPECT_EQ((add<F32, ftz>(0x00000001, 0x00000001)), 0u);
  EXPECT_EQ((add<F32, ftz>(0x80000001, 0x80000001)), 0x80000000u);
  EXPECT_EQ((mul<F32, ftz>(0x00800000, 0x3F000000)), 0u);  // 2^-126 / 2
  EXPECT_EQ((mul<F32, ftz>(0x80800000, 0x3F000000)), 0x80000000u);
  EXPECT_EQ((fma<F32, ftz>(0x3F800000, 0x3F800000, 0x007FFFFF)), 0x3F800000u);
  EXPECT_EQ((div<F32, ftz>(0x3F800000, 0x00000001)), 0x7F800000u);  // the divisor is zero
  EXPECT_EQ((add<F16, ftz>(0x0001, 0x0001)), 0u);
  EXPECT_EQ((add<F16, ftz>(0x8200, 0x8200)), 0x8000u) << "operands vanish even if their sum would be normal";
  EXPECT_EQ((mul<F32, ArithMods{.rounding = Rounding::rp, .ftz = true}>(0x00800000, 0x3F000000)), 0u);
}

/// Operands whose product and quotient lie around the smallest normal number, and an addend for fma.
template <class F>
std::vector<Triple<F>> near_smallest_normal(int count) {
  std::mt19937_64 rng(3);
  const auto mantissa = [&]() -> bits_of<F> {
    const std::uint64_t ends[] = {
        0, 1, 2, F::man_mask, F::man_mask - 1, F::man_mask / 2, rng() & F::man_mask};
    return static_cast<bits_of<F>>(ends[rng() % 7]);
  };
  const auto number = [&](int exponent) {
    const int field = std::clamp(exponent + F::bias, 1, static_cast<int>(F::exp_field_max) - 1);
    return static_cast<bits_of<F>>(static_cast<bits_of<F>>(field) << F::man_bits | mantissa() |
                                   (rng() & F::sign_mask));
  };
  std::vector<Triple<F>> out;
  for (int i = 0; i < count; ++i) {
    const int a = static_cast<int>(rng() % (F::bias + 1)) - F::bias / 2;
    const int wanted = F::emin - static_cast<int>(rng() % 3);
    const bits_of<F> c = rng() % 3 == 0 ? bits_of<F>{0} : number(F::emin + static_cast<int>(rng() % 3));
    out.push_back({number(a), rng() % 2 == 0 ? number(wanted - a) : number(a - wanted), c});
  }
  return out;
}

template <Rounding R>
void check_flushing_against_host(const std::vector<Triple<F32>>& inputs) {
  constexpr ArithMods m{.rounding = R, .ftz = true};
  for (const auto& t : inputs) {
    volatile float a = std::bit_cast<float>(t.a), b = std::bit_cast<float>(t.b),
                   c = std::bit_cast<float>(t.c);
    float product = 0, fused = 0, quotient = 0;
    test::under_flushing(R, [&] {
      volatile float results[] = {a * b, std::fma(a, b, c), a / b};
      product = results[0], fused = results[1], quotient = results[2];
      return 0;
    });
    const auto where = [&] { return ::testing::Message() << std::hex << t.a << ' ' << t.b << ' ' << t.c; };
    ASSERT_EQ((mul<F32, m>(t.a, t.b)), std::bit_cast<std::uint32_t>(product)) << where();
    ASSERT_EQ((fma<F32, m>(t.a, t.b, t.c)), std::bit_cast<std::uint32_t>(fused)) << where();
    ASSERT_EQ((div<F32, m>(t.a, t.b)), std::bit_cast<std::uint32_t>(quotient)) << where();
  }
}

TEST(Arith, FlushToZeroLooksAtAnUnboundedExponent) {
  const auto inputs = near_smallest_normal<F32>(200000);
  check_flushing_against_host<Rounding::rn>(inputs);
  check_flushing_against_host<Rounding::rz>(inputs);
  check_flushing_against_host<Rounding::rm>(inputs);
  check_flushing_against_host<Rounding::rp>(inputs);
  constexpr ArithMods ftz{.ftz = true};
  EXPECT_EQ((mul<F32, ftz>(0x00800000, 0x3F7FFFFF)), 0u) << "an H200's: nearest in f32 would be 2^-126";
}

TEST(Arith, FlushToZeroOfF16LooksAtAnUnboundedExponent) {
  constexpr ArithMods ftz{.ftz = true};
  const auto expected = [](double exact) {
    const auto larger = test::encode_by_definition<F16>(exact * 1024, Rounding::rn, false);
    const bool tiny =
        (larger & F16::magnitude_mask) < test::encode_by_definition<F16>(0x1p-4, Rounding::rn, false);
    return tiny ? (std::signbit(exact) ? 0x8000u : 0u)
                : test::encode_by_definition<F16>(exact, Rounding::rn, false);
  };
  for (const auto& t : near_smallest_normal<F16>(100000)) {
    const double product = to_double<F16>(t.a) * to_double<F16>(t.b), sum = product + to_double<F16>(t.c);
    if (std::fabs(product) > 0x1p-4) continue;  // quotients are none of halves
    ASSERT_EQ((mul<F16, ftz>(t.a, t.b)), expected(product)) << std::hex << t.a << ' ' << t.b;
    ASSERT_EQ((fma<F16, ftz>(t.a, t.b, t.c)), expected(sum)) << std::hex << t.a << ' ' << t.b << ' ' << t.c;
  }
}

TEST(Arith, SaturateClampsToTheUnitInterval) {
  constexpr ArithMods sat{.sat = true};
  EXPECT_EQ((add<F32, sat>(0x3F800000, 0x3F800000)), 0x3F800000u);
  EXPECT_EQ((sub<F32, sat>(0, 0x3F800000)), 0u);
  EXPECT_EQ((mul<F32, sat>(0x80000000, 0x3F800000)), 0u) << "-0 becomes +0";
  EXPECT_EQ((add<F32, sat>(0x7F800000, 0xFF800000)), 0u) << "NaN becomes +0";
  EXPECT_EQ((fma<F32, sat>(0x3F000000, 0x3F000000, 0)), 0x3E800000u);
  EXPECT_EQ((fma<F16, sat>(0x4000, 0x4000, 0x0000)), 0x3C00u);
  EXPECT_EQ((add<F64, sat>(F64::infinity, F64::one)), F64::one);
}

TEST(Arith, ReluKeepsNanAndDropsTheNegative) {
  constexpr ArithMods relu{.relu = true};
  EXPECT_EQ((fma<F16, relu>(0x3C00, 0xBC00, 0x0000)), 0u);
  EXPECT_EQ((fma<F16, relu>(0x3C00, 0x3C00, 0x3C00)), 0x4000u);
  EXPECT_EQ((fma<F16, relu>(F16::infinity, 0, 0)), 0x7FFFu);
  EXPECT_EQ((fma<Bf16, relu>(0xBF80, 0x3F80, 0)), 0u);
}

TEST(Arith, NanResultsAreCanonical) {
  EXPECT_EQ((add<F32>(0xFFC12345, 0)), 0x7FFFFFFFu);
  EXPECT_EQ((mul<F32, ArithMods{Rounding::rz}>(0x7F800000, 0)), 0x7FFFFFFFu);
  EXPECT_EQ((sqrt<F32>(0xBF800000)), 0x7FFFFFFFu);
  EXPECT_EQ((add<F16>(0xFE01, 0)), 0x7FFFu);
  EXPECT_EQ((mul<Bf16>(0x7F80, 0)), 0x7FFFu);
  EXPECT_EQ((neg<F32>(0x7FC00001)), 0x7FFFFFFFu);
  EXPECT_EQ((abs<F16>(0xFE00)), 0x7FFFu);
  EXPECT_EQ((neg<F64>(0x7FF8000000000001)), 0x7FF8000000000001u) << "f64 NaN passes neg unchanged";
  EXPECT_EQ((add<F64>(0x7FF0000000000123, F64::one)), 0x7FF8000000000123u)
      << "f64 keeps the payload, made quiet";
}

TEST(Arith, NegAbsCopysign) {
  EXPECT_EQ((neg<F32>(0)), 0x80000000u);
  EXPECT_EQ((neg<F32, true>(0x00000001)), 0x80000000u);
  EXPECT_EQ((abs<Bf16>(0xC000)), 0x4000u);
  EXPECT_EQ((copysign<F32>(0x80000000, 0x3F800000)), 0xBF800000u);
  EXPECT_EQ((copysign<F64>(F64::one, F64::one | F64::sign_mask)), F64::one);
}

template <class F>
void check_min_max() {
  std::vector<bits_of<F>> inputs = corners<F>();
  std::mt19937_64 rng(2);
  for (int i = 0; i < 300; ++i) inputs.push_back(static_cast<bits_of<F>>(rng()));
  for (const auto a : inputs) {
    for (const auto b : inputs) {
      const double x = to_double<F>(a);
      const double y = to_double<F>(b);
      bits_of<F> low = x < y ? a : b;
      bits_of<F> high = x > y ? a : b;
      if (is_zero<F>(a) && is_zero<F>(b))
        low = static_cast<bits_of<F>>(a | b), high = static_cast<bits_of<F>>(a & b);
      if (x != x) low = high = b;
      if (y != y) low = high = a;
      // f64 has no canonical NaN.
      const auto nan = std::is_same_v<F, F64> ? static_cast<bits_of<F>>(nan_f64(a, b)) : F::canonical_nan;
      if (x != x && y != y) low = high = nan;
      ASSERT_EQ((min<F>(a, b)), low) << std::hex << a << ' ' << b;
      ASSERT_EQ((max<F>(a, b)), high) << std::hex << a << ' ' << b;
      const bool any_nan = x != x || y != y;
      ASSERT_EQ((min<F, MinMaxMods{.nan = true}>(a, b)), any_nan ? nan : low);
      ASSERT_EQ((max<F, MinMaxMods{.nan = true}>(a, b)), any_nan ? nan : high);
      if constexpr (std::is_same_v<F, F64>) continue;  // f64 has neither .NaN nor .xorsign
      const auto magnitude = max<F>(a & F::magnitude_mask, b & F::magnitude_mask);
      const auto with_sign =
          static_cast<bits_of<F>>((magnitude & F::magnitude_mask) | ((a ^ b) & F::sign_mask));
      ASSERT_EQ((max<F, MinMaxMods{.xorsign_abs = true}>(a, b)), x != x && y != y ? nan : with_sign);
    }
  }
}

TEST(Arith, MinMaxOrderZerosAndAvoidNan) {
  check_min_max<F32>();
  check_min_max<F64>();
  check_min_max<F16>();
  check_min_max<Bf16>();
  EXPECT_EQ((min<F32, MinMaxMods{.ftz = true}>(0x00000001, 0x80000001)), 0x80000000u);
}

TEST(Arith, TestpClasses) {
  EXPECT_TRUE(testp<F32>(TestClass::normal, 0)) << "zero counts as normal";
  EXPECT_FALSE(testp<F32>(TestClass::normal, 1));
  EXPECT_TRUE(testp<F32>(TestClass::subnormal, 0x807FFFFF));
  EXPECT_FALSE(testp<F32>(TestClass::subnormal, 0x80000000));
  EXPECT_TRUE(testp<F64>(TestClass::infinite, F64::infinity | F64::sign_mask));
  EXPECT_FALSE(testp<F64>(TestClass::finite, F64::infinity));
  EXPECT_TRUE(testp<F32>(TestClass::number, F32::infinity));
  EXPECT_TRUE(testp<F32>(TestClass::notanumber, 0xFFFFFFFF));
}

TEST(Arith, ModifiersChosenAtRunTimeReachTheSameCode) {
  for (const Rounding r : {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp}) {
    for (const bool ftz : {false, true}) {
      for (const bool sat : {false, true}) {
        const ArithMods m{r, ftz, sat};
        ASSERT_TRUE(with_mods(m, [&]<ArithMods M>() { return M == m; }));
      }
    }
  }
  EXPECT_TRUE(with_mods(MinMaxMods{.nan = true, .xorsign_abs = true},
                        []<MinMaxMods M>() { return M.nan && M.xorsign_abs && !M.ftz; }));
}

}  // namespace
}  // namespace palladion::isa::num
