// What begins with sm_100 and is computed lane by lane: pairs of f32, halves added to f32, minima of three,
// conversions to 4, 6 and 8 bits, stochastic rounding. There was no device of this kind: expected values
// follow from the manual, from f32's own instructions (which an H200 confirms) and from exact arithmetic.
#include <cmath>
#include <random>

#include "isa/num/stochastic.h"
#include "tests/isa/num/samples.h"
#include "tests/isa/ops_harness.h"

namespace palladion::isa {
namespace {

using namespace test;
using num::E2m1;
using num::F32;

// 32 values for each of `sources` operands, special ones among them.
std::vector<Lanes> f32_samples(size_t sources, uint64_t seed) {
  const auto pool = num::test::stratified<F32>(2000);
  std::mt19937_64 rng(seed);
  std::vector<Lanes> samples(sources, Lanes(32));
  for (Lanes& lanes : samples)
    for (uint64_t& x : lanes) x = pool[rng() % pool.size()];
  return samples;
}

Lanes run_on(const std::string& name, const std::vector<Lanes>& sources) {
  Bench bench(name, {}, sources.size() + 1);
  if (!bench.is_pure()) {
    ADD_FAILURE() << name;
    return Lanes(32);
  }
  for (size_t k = 0; k < sources.size(); ++k) bench.sources.at(k).set(sources[k]);
  return bench.run();
}

Lanes paired(const Lanes& low, const Lanes& high) {
  Lanes pairs(32);
  for (size_t i = 0; i < 32; ++i) pairs[i] = high[i] << 32 | low[i];
  return pairs;
}

TEST(Pairs, AreTwoInstructionsOfF32) {
  for (const std::string op : {"add", "sub", "mul", "fma"}) {
    const size_t sources = op == "fma" ? 3 : 2;
    for (const std::string rounding : {".rn", ".rz", ".rm", ".rp"}) {
      for (const std::string ftz : {"", ".ftz"}) {
        for (uint64_t seed = 0; seed < 20; ++seed) {
          const auto low = f32_samples(sources, 2 * seed), high = f32_samples(sources, 2 * seed + 1);
          std::vector<Lanes> pairs;
          for (size_t k = 0; k < sources; ++k) pairs.push_back(paired(low[k], high[k]));
          const std::string words = op + rounding + ftz;
          EXPECT_EQ(run_on(words + ".f32x2", pairs),
                    paired(run_on(words + ".f32", low), run_on(words + ".f32", high)))
              << words;
        }
      }
    }
  }
}

TEST(Pairs, LanesOutsideTheMaskKeepTheirValue) {
  Bench bench("mul.rn.f32x2");
  bench.sources[0].set(Lanes(32, 0x4000000040000000));
  bench.sources[1].set(Lanes(32, 0x4000000040000000));
  bench.destinations[0].set(Lanes(32, 7));
  const Lanes got = bench.run(0x00000002);
  EXPECT_EQ(got[0], 7U);
  EXPECT_EQ(got[1], 0x4080000040800000U);
}

TEST(MixedPrecision, HalvesAreWidenedExactly) {
  const auto halves = num::test::stratified<num::F16>(2000);
  std::mt19937_64 rng(3);
  for (int round = 0; round < 50; ++round) {
    Lanes a(32), b(32), wide_a(32), wide_b(32);
    const Lanes c = f32_samples(1, rng())[0];
    for (const bool bf16 : {false, true}) {
      for (size_t i = 0; i < 32; ++i) {
        a[i] = halves[rng() % halves.size()], b[i] = halves[rng() % halves.size()];
        const auto widen = [&](uint64_t h) -> uint64_t {
          const auto half = static_cast<uint16_t>(h);
          return bf16 ? num::to_f32_bits<num::Bf16>(half) : num::to_f32_bits<num::F16>(half);
        };
        wide_a[i] = widen(a[i]), wide_b[i] = widen(b[i]);
      }
      const std::string type = bf16 ? ".f32.bf16" : ".f32.f16";
      for (const std::string sat : {"", ".sat"}) {
        EXPECT_EQ(run_on("add.rz" + sat + type, {a, c}), run_on("add.rz" + sat + ".f32", {wide_a, c}));
        EXPECT_EQ(run_on("sub.rp" + sat + type, {a, c}), run_on("sub.rp" + sat + ".f32", {wide_a, c}));
        EXPECT_EQ(run_on("fma.rn" + sat + type, {a, b, c}),
                  run_on("fma.rn" + sat + ".f32", {wide_a, wide_b, c}));
      }
    }
  }
}

uint64_t of_three(const std::string& name, const std::vector<uint64_t>& operands) {
  std::vector<Lanes> lanes;
  for (const uint64_t x : operands) lanes.emplace_back(32, x);
  return run_on(name, lanes)[7];
}

TEST(MinMax, OfThree) {
  constexpr uint64_t nan = 0x7FC00001, one = 0x3F800000, minus_two = 0xC0000000, three = 0x40400000;
  EXPECT_EQ(of_three("min.f32", {one, minus_two, three}), minus_two);
  EXPECT_EQ(of_three("max.f32", {one, minus_two, three}), three);
  EXPECT_EQ(of_three("max.f32", {nan, minus_two, nan}), minus_two);
  EXPECT_EQ(of_three("max.f32", {nan, nan, nan}), 0x7FFFFFFFU);
  EXPECT_EQ(of_three("max.NaN.f32", {one, nan, three}), 0x7FFFFFFFU);
  EXPECT_EQ(of_three("min.NaN.f32", {one, one, nan}), 0x7FFFFFFFU);
  EXPECT_EQ(of_three("min.abs.f32", {three, minus_two, 0xC0400000}), 0x40000000U);
  EXPECT_EQ(of_three("max.abs.f32", {one, minus_two, 0xC0400000}), three);
  EXPECT_EQ(of_three("min.f32", {0, 0x80000000, one}), 0x80000000U);
  EXPECT_EQ(of_three("min.ftz.f32", {one, 1, three}), 0U);
}

// --- conversions ----------------------------------------------------------------------------------------
// The elements themselves: tests/isa/num.
TEST(SmallFormats, PairsAndTheirPlaces) {
  EXPECT_EQ(one_lane("cvt.rn.satfinite.e2m3x2.f32", {0x3F880000, 0xC0E00000}), 0x083EU);
  EXPECT_EQ(one_lane("cvt.rn.satfinite.e3m2x2.f32", {0x3F880000, 0xC0E00000}), 0x0C37U);
  EXPECT_EQ(one_lane("cvt.rn.satfinite.e2m1x2.f32", {0x3F880000, 0xC0E00000}), 0x2FU);
  EXPECT_EQ(one_lane("cvt.rn.satfinite.relu.e2m1x2.f32", {0x3F880000, 0xC0E00000}), 0x20U);
  EXPECT_EQ(one_lane("cvt.rn.satfinite.e2m3x2.f32", {0x7FC00000, 0x7F800000}), 0x1F1FU);
  EXPECT_EQ(one_lane("cvt.rn.satfinite.e2m1x2.f16x2", {0x4000C700}), 0x4FU);
  EXPECT_EQ(one_lane("cvt.rn.f16x2.e2m3x2", {0x083E}), 0x3C00C700U);
  EXPECT_EQ(one_lane("cvt.rn.f16x2.e2m3x2", {0xC8FE}), 0x3C00C700U);  // the upper two bits mean nothing
  EXPECT_EQ(one_lane("cvt.rn.f16x2.e3m2x2", {0x0C37}), 0x3C00C700U);
  EXPECT_EQ(one_lane("cvt.rn.f16x2.e2m1x2", {0x2F}), 0x3C00C600U);
  EXPECT_EQ(one_lane("cvt.rn.relu.f16x2.e2m1x2", {0x2F}), 0x3C000000U);
}

TEST(SmallFormats, Scales) {
  EXPECT_EQ(one_lane("cvt.rz.ue8m0x2.f32", {0x3F880000, 0xC0E00000}), 0x7F81U);
  EXPECT_EQ(one_lane("cvt.rp.ue8m0x2.f32", {0x3F880000, 0xC0E00000}), 0x8082U);
  EXPECT_EQ(one_lane("cvt.rp.ue8m0x2.f32", {0x00400000, 0x00400001}), 0x0001U);
  EXPECT_EQ(one_lane("cvt.rz.ue8m0x2.f32", {0x7F800000, 0x7FC00000}), 0xFFFFU);
  EXPECT_EQ(one_lane("cvt.rz.satfinite.ue8m0x2.f32", {0x7F800000, 0x7FC00000}), 0xFEFFU);
  EXPECT_EQ(one_lane("cvt.rp.satfinite.ue8m0x2.f32", {0x7F7FFFFF, 0x40000000}), 0xFE80U);
  EXPECT_EQ(one_lane("cvt.rp.ue8m0x2.bf16x2", {0x3F883F80}), 0x807FU);
  EXPECT_EQ(one_lane("cvt.rz.satfinite.ue8m0x2.bf16x2", {0x7F80C0E0}), 0xFE81U);
  EXPECT_EQ(one_lane("cvt.rn.bf16x2.ue8m0x2", {0x7F00}), 0x3F800040U);
  EXPECT_EQ(one_lane("cvt.rn.bf16x2.ue8m0x2", {0xFFFE}), 0x7FFF7F00U);
}

TEST(SmallFormats, Tf32BelowInfinity) {
  EXPECT_EQ(one_lane("cvt.rn.satfinite.tf32.f32", {0x7F800000}), 0x7F7FE000U);
  EXPECT_EQ(one_lane("cvt.rn.satfinite.tf32.f32", {0x7F7FFFFF}), 0x7F7FE000U);
  EXPECT_EQ(one_lane("cvt.rz.relu.satfinite.tf32.f32", {0xBF800000}), 0U);
  EXPECT_EQ(one_lane("cvt.rz.satfinite.tf32.f32", {0x3F801FFF}), 0x3F800000U);
}

// --- stochastic rounding ----------------------------------------------------------------------------------
// How many of the 2^n random values round the magnitude up: the fraction of a unit that is cut off, in
// 2^n-ths, rounded down. A value that the format has stays.
template <class F>
void check_frequency(double magnitude) {
  constexpr int n = num::random_bits<F>;
  const int exponent = std::max(std::ilogb(magnitude), F::emin);
  const double units = std::ldexp(magnitude, F::man_bits - exponent);
  const double below = std::ldexp(std::floor(units), exponent - F::man_bits);
  const double above = std::ldexp(std::floor(units) + 1, exponent - F::man_bits);
  const auto x = std::bit_cast<uint32_t>(static_cast<float>(magnitude));
  uint32_t up = 0;
  for (uint32_t random = 0; random < 1u << n; ++random) {
    const double got = num::to_double<F>(num::encode_f32_stochastic<F>(x, random, true));
    ASSERT_TRUE(got == below || got == above) << magnitude << " became " << got;
    up += got == above ? 1 : 0;
    const double minus = num::to_double<F>(num::encode_f32_stochastic<F>(x ^ 0x80000000, random, true));
    ASSERT_EQ(minus, -got);
  }
  EXPECT_EQ(up, static_cast<uint32_t>(std::floor(std::ldexp(units - std::floor(units), n)))) << magnitude;
}

template <class F>
void check_frequencies() {
  std::mt19937 rng(5);
  const int lowest = F::emin - F::man_bits - 12;
  for (int e = lowest; e < F::emax; ++e) {
    if (e < -149) continue;
    check_frequency<F>(std::ldexp(1.0, e));
    const float random = std::ldexp(1.0F + static_cast<float>(rng() % (1u << 23)) * 0x1p-23F, e);
    check_frequency<F>(random);
  }
}

TEST(StochasticRounding, RoundsUpAsOftenAsTheFractionSays) {
  check_frequencies<num::E4m3>();
  check_frequencies<num::E5m2>();
  check_frequencies<num::E2m3>();
  check_frequencies<num::E3m2>();
  check_frequencies<E2m1>();
  check_frequencies<num::F16>();
  for (const double x : {1.0, 1.00390625, 0x1.01p-120, 0x1.8p-130, 3e38, 0x1.fffffep100}) {
    check_frequency<num::Bf16>(static_cast<float>(x));
  }
}

TEST(StochasticRounding, ExtraordinaryValues) {
  constexpr uint32_t all = 0xFFFFFFFF, infinity = 0x7F800000, nan = 0xFFC00001, largest = 0x7F7FFFFF;
  EXPECT_EQ(one_lane("cvt.rs.f16x2.f32", {infinity, nan, all}), 0x7C007FFFU);
  EXPECT_EQ(one_lane("cvt.rs.satfinite.f16x2.f32", {infinity, nan, all}), 0x7BFF7FFFU);
  EXPECT_EQ(one_lane("cvt.rs.f16x2.f32", {0x477FEFFF, 0x477FEFFF, 0xFFFF0000}), 0x7C007BFFU);
  EXPECT_EQ(one_lane("cvt.rs.satfinite.f16x2.f32", {0x477FEFFF, 0x477FEFFF, 0xFFFF0000}), 0x7BFF7BFFU);
  EXPECT_EQ(one_lane("cvt.rs.bf16x2.f32", {largest, largest, 0xFFFF0000}), 0x7F807F7FU);
  EXPECT_EQ(one_lane("cvt.rs.relu.bf16x2.f32", {0xBF800000, nan, all}), 0x00007FFFU);
}

// a has the upper half of the random bits.
TEST(StochasticRounding, RandomBitsOfPairs) {
  const uint32_t half_unit_f16 = 0x3F801000, half_unit_bf16 = 0x3F808000;
  EXPECT_EQ(one_lane("cvt.rs.f16x2.f32", {half_unit_f16, half_unit_f16, 0x10000FFF}), 0x3C013C00U);
  EXPECT_EQ(one_lane("cvt.rs.f16x2.f32", {half_unit_f16, half_unit_f16, 0xE0001FFF}), 0x3C003C01U);
  EXPECT_EQ(one_lane("cvt.rs.bf16x2.f32", {half_unit_bf16, half_unit_bf16, 0x80007FFF}), 0x3F813F80U);
}

// The function of an x4 conversion on the same value in a, b, e and f.
template <class To>
uint32_t four(const char* name, uint32_t value, uint32_t random) {
  LaneArgs args{};
  alignas(32) uint32_t values[32], bits[32], result[32]{};
  std::fill_n(values, 32, value);
  std::fill_n(bits, 32, random);
  const Matched matched = match_count(name, 3);
  Instruction i;
  i.op = matched.op, i.form = matched.form, i.mods = matched.mods;
  Module module;
  Function function;
  const Effect decoded = effect(i, DecodeContext{module, function, default_arch()});
  args.d[0] = result;
  for (int k = 0; k < 4; ++k) args.s[k] = values;
  args.s[4] = bits;
  args.mask = ~0U;
  std::get<Pure>(decoded).fn(args);
  return To::width == 4 ? result[0] & 0xFFFF : result[0];
}

// a and b share the upper half, e and f the lower one; nibbles of e2m1 the upper and lower bytes of both.
TEST(StochasticRounding, RandomBitsOfFour) {
  const uint32_t half_unit_e4m3 = 0x3F880000, half_unit_e2m3 = 0x3F880000, half_unit_e2m1 = 0x3FA00000;
  EXPECT_EQ(four<num::E4m3>("cvt.rs.satfinite.e4m3x4.f32", half_unit_e4m3, 0x80007FFF), 0x39393838U);
  EXPECT_EQ(four<num::E4m3>("cvt.rs.satfinite.e4m3x4.f32", half_unit_e4m3, 0x7FFF8000), 0x38383939U);
  EXPECT_EQ(four<num::E2m3>("cvt.rs.satfinite.e2m3x4.f32", half_unit_e2m3, 0x80007FFF), 0x09090808U);
  EXPECT_EQ(four<num::E5m2>("cvt.rs.relu.satfinite.e5m2x4.f32", 0xBF880000, 0), 0U);
  EXPECT_EQ(four<num::E3m2>("cvt.rs.satfinite.e3m2x4.f32", 0x7F800000, 0), 0x1F1F1F1FU);
  EXPECT_EQ(four<E2m1>("cvt.rs.satfinite.e2m1x4.f32", half_unit_e2m1, 0x80000000), 0x3222U);
  EXPECT_EQ(four<E2m1>("cvt.rs.satfinite.e2m1x4.f32", half_unit_e2m1, 0x00008000), 0x2322U);
  EXPECT_EQ(four<E2m1>("cvt.rs.satfinite.e2m1x4.f32", half_unit_e2m1, 0x00800000), 0x2232U);
  EXPECT_EQ(four<E2m1>("cvt.rs.satfinite.e2m1x4.f32", half_unit_e2m1, 0x00000080), 0x2223U);
}

TEST(Blackwell, WhatIsNotModelledIsUnsupportedByName) {
  const auto reason = [](const std::string& name, size_t operands) {
    const Bench bench(name, {}, operands);
    const auto* u = std::get_if<Unsupported>(&bench.effect());
    return u == nullptr ? std::string() : std::string(u->reason);
  };
  EXPECT_NE(reason("fma.rn.oob.f16", 4).find("oob"), std::string::npos);
}

}  // namespace
}  // namespace palladion::isa
