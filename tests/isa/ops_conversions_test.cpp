// cvt as an instruction: registers wider than the type against integer models, the host's roundings, whole
// exponents hashed as on an H200.
#include <bit>
#include <cfenv>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include "isa/num/arith.h"
#include "tests/device/special/record/operands.h"
#include "tests/isa/num/samples.h"
#include "tests/isa/ops_harness.h"

namespace palladion::isa {
namespace {

using namespace test;
using operands::mix64;

// The sum of mix64(input << 32 | result) over the 2^23 inputs of one sign and exponent.
uint64_t bucket_hash(const std::string& name, uint32_t bucket) {
  Bench bench(name);
  const bool pair = bench.sources.size() == 2;
  if (pair) bench.sources[0].set(Lanes(32, 0));
  uint64_t sum = 0;
  for (uint32_t base = bucket << 23, n = 0; n < 1U << 23; n += 32) {
    uint32_t inputs[32];
    for (uint32_t i = 0; i < 32; ++i) inputs[i] = base + n + i;
    std::memcpy(bench.sources[pair ? 1 : 0].bytes, inputs, sizeof inputs);
    bench.fn()(bench.arguments());
    for (size_t i = 0; i < 32; ++i) {
      uint64_t result = 0;
      if (bench.destinations[0].width == 16)
        result = reinterpret_cast<const uint16_t*>(bench.destinations[0].bytes)[i];
      else
        result = reinterpret_cast<const uint32_t*>(bench.destinations[0].bytes)[i];
      sum += mix64(uint64_t{inputs[i]} << 32 | result);
    }
  }
  return sum;
}

// The exponents where f32 meets the small formats' subnormals and overflow; PALLADION_ALL_BUCKETS=1 for all
// of them.
TEST(Conversions, HashesOfAWholeExponentEqualTheDevices) {
  std::ifstream in(std::string(PLD_SOURCE_DIR) + "/tests/device/special/cvt_h200_hashes.csv");
  std::string line;
  while (std::getline(in, line) && line[0] == '#') {
  }
  std::vector<std::string> names;
  std::istringstream header(line);
  for (std::string name; std::getline(header, name, ',');) names.push_back(name);
  ASSERT_EQ(names.size(), 10U);
  const bool all = std::getenv("PALLADION_ALL_BUCKETS") != nullptr;
  int compared = 0;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string field;
    std::getline(fields, field, ',');
    const auto bucket = static_cast<uint32_t>(std::stoul(field, nullptr, 16));
    const uint32_t exponent = bucket & 255;
    if (!all && bucket != 102 && exponent != 113 && bucket != 135 && bucket != 511) continue;
    for (size_t k = 1; k < names.size(); ++k) {
      std::getline(fields, field, ',');
      EXPECT_EQ(bucket_hash(names[k], bucket), std::stoull(field, nullptr, 16))
          << names[k] << " bucket " << bucket;
      ++compared;
    }
  }
  EXPECT_GE(compared, 45);
}

// --- registers wider than the type
struct IntegerType {
  const char* name;
  int width;
  bool is_signed;
};
constexpr IntegerType integers[] = {{"u8", 8, false},   {"s8", 8, true},    {"u16", 16, false},
                                    {"s16", 16, true},  {"u32", 32, false}, {"s32", 32, true},
                                    {"u64", 64, false}, {"s64", 64, true}};

i128 interpret(uint64_t bits, const IntegerType& t) {
  const uint64_t low = t.width == 64 ? bits : bits & ((uint64_t{1} << t.width) - 1);
  if (!t.is_signed || (low >> (t.width - 1) & 1) == 0) return low;
  return static_cast<i128>(low) - (static_cast<i128>(1) << t.width);
}
i128 lowest(const IntegerType& t) { return t.is_signed ? -(static_cast<i128>(1) << (t.width - 1)) : 0; }
i128 highest(const IntegerType& t) { return (static_cast<i128>(1) << (t.width - (t.is_signed ? 1 : 0))) - 1; }
Lanes edges(int width, std::mt19937_64& rng) {
  Lanes values(32);
  for (size_t i = 0; i < 32; ++i) {
    const uint64_t edge = (uint64_t{1} << (rng() % 64)) + rng() % 3 - 1;
    values[i] = in_register(static_cast<i128>(rng() % 3 == 0 ? rng() : rng() % 2 == 0 ? edge : ~edge), width);
  }
  return values;
}

TEST(Conversions, IntegersBetweenAllRegisterWidths) {
  std::mt19937_64 rng(7);
  int combinations = 0;
  for (const IntegerType& to : integers) {
    for (const IntegerType& from : integers) {
      for (const bool sat : {false, true}) {
        const std::string name = std::string(sat ? "cvt.sat." : "cvt.") + to.name + "." + from.name;
        if (match_count(name, 2).form == nullptr) {
          EXPECT_TRUE(sat) << name;
          // .sat exists exactly where a value can exceed the type.
          EXPECT_TRUE(lowest(from) >= lowest(to) && highest(from) <= highest(to)) << name;
          continue;
        }
        for (int d = to.width; d <= 64; d *= 2) {
          for (int s = from.width; s <= 64; s *= 2, ++combinations) {
            Bench bench(name, {d, s});
            ASSERT_TRUE(bench.is_pure()) << name << ' ' << d << ' ' << s;
            for (int round = 0; round < 4; ++round) {
              const Lanes a = edges(s, rng), old = edges(d, rng);
              const auto mask = static_cast<uint32_t>(rng());
              bench.sources[0].set(a);
              bench.destinations[0].set(old);
              const Lanes got = bench.run(mask);
              for (size_t i = 0; i < 32; ++i) {
                i128 value = interpret(a[i], from);
                if (sat) value = std::clamp(value, lowest(to), highest(to));
                const i128 extended = interpret(static_cast<uint64_t>(value), to);
                const uint64_t expected = (mask >> i & 1) != 0 ? in_register(extended, d) : old[i];
                ASSERT_EQ(got[i], expected)
                    << name << " from " << s << " to " << d << " bits: " << std::hex << a[i];
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(combinations, 600);
}

struct FloatType {
  const char* name;
  int width, widest_register;
};
constexpr FloatType float_types[] = {{"f16", 16, 64}, {"bf16", 16, 16}, {"f32", 32, 64}, {"f64", 64, 64}};

template <class Fn>
auto with_format(const std::string& type, Fn f) {
  if (type == "f16") return f.template operator()<num::F16>();
  if (type == "bf16") return f.template operator()<num::Bf16>();
  if (type == "f32") return f.template operator()<num::F32>();
  return f.template operator()<num::F64>();
}

i128 host_round(double x, const std::string& word) {
  if (word == "rzi") return static_cast<i128>(std::trunc(x));
  if (word == "rmi") return static_cast<i128>(std::floor(x));
  return static_cast<i128>(word == "rpi" ? std::ceil(x) : std::nearbyint(x));
}

uint64_t expected_integer(double x, const FloatType& from, const IntegerType& to,
                          const std::string& rounding) {
  if (x != x) {
    const bool top_bit = from.width == 64 || to.width == 64;
    return top_bit ? uint64_t{1} << (to.width - 1) : 0;
  }
  const i128 value = host_round(std::clamp(x, -0x1p100, 0x1p100), rounding);
  return static_cast<uint64_t>(std::clamp(value, lowest(to), highest(to)));
}

TEST(Conversions, FloatsToIntegersOfAllRegisterWidths) {
  std::mt19937_64 rng(11);
  for (const FloatType& from : float_types) {
    for (const IntegerType& to : integers) {
      if (std::string(from.name) == "bf16" && to.width == 8) continue;
      for (const std::string rounding : {"rni", "rzi", "rmi", "rpi"}) {
        const std::string name = "cvt." + rounding + "." + to.name + "." + from.name;
        for (int d = to.width; d <= 64; d *= 2) {
          for (int s = from.width; s <= from.widest_register; s *= 2) {
            Bench bench(name, {d, s});
            ASSERT_TRUE(bench.is_pure()) << name << ' ' << d << ' ' << s;
            for (int round = 0; round < 6; ++round) {
              Lanes a(32);
              for (uint64_t& x : a) {
                // Every exponent that matters for integers, and a few beyond, under junk in the upper bits.
                const double value =
                    std::ldexp(static_cast<double>(rng() % 4096) / 512, static_cast<int>(rng() % 70) - 4);
                const uint64_t junk = rng();
                x = with_format(from.name, [&]<class F>() -> uint64_t {
                  const auto special = num::test::corners<F>();
                  const auto b = rng() % 4 == 0 ? special[rng() % special.size()]
                                                : num::encode_f64<F>(rng() % 2 == 0 ? value : -value);
                  return F::width == 64 ? b : (junk << (F::width % 64)) | b;
                });
                x = in_register(static_cast<i128>(x), s);
              }
              bench.sources[0].set(a);
              const Lanes got = bench.run();
              for (size_t i = 0; i < 32; ++i) {
                const double x = with_format(from.name, [&]<class F>() { return value_of<F>(a[i], false); });
                const uint64_t expected =
                    in_register(interpret(expected_integer(x, from, to, rounding), to), d);
                ASSERT_EQ(got[i], expected)
                    << name << " from " << s << " to " << d << " bits: " << std::hex << a[i];
              }
            }
          }
        }
      }
    }
  }
}

// The host rounds an integer to f32 and f64 itself; halves are checked by bracketing.
TEST(Conversions, IntegersToF32AndF64InEveryRounding) {
  std::mt19937_64 rng(13);
  for (const IntegerType& from : integers) {
    for (const HostRounding& rounding : host_roundings) {
      for (const int width : {32, 64}) {
        const std::string name =
            std::string("cvt.") + rounding.word + (width == 32 ? ".f32." : ".f64.") + from.name;
        for (int s = from.width; s <= 64; s *= 2) {
          Bench bench(name, {width, s});
          ASSERT_TRUE(bench.is_pure()) << name;
          const Lanes a = edges(s, rng);
          bench.sources[0].set(a);
          const Lanes got = bench.run();
          for (size_t i = 0; i < 32; ++i) {
            const i128 value = interpret(a[i], from);
            std::fesetround(rounding.mode);
            volatile long double wide = static_cast<long double>(value);  // 64 bits of mantissa: exact
            volatile float f = static_cast<float>(wide);
            volatile double g = static_cast<double>(wide);
            std::fesetround(FE_TONEAREST);
            const uint64_t expected =
                width == 32 ? std::bit_cast<uint32_t>(float{f}) : std::bit_cast<uint64_t>(double{g});
            ASSERT_EQ(got[i], expected) << name << ' ' << std::hex << a[i];
          }
        }
      }
    }
  }
}

TEST(Conversions, HalvesFromIntegersAreTheNearestOnTheRightSide) {
  std::mt19937_64 rng(17);
  for (const IntegerType& from : integers) {
    for (const std::string type : {"f16", "bf16"}) {
      if (type == "bf16" && from.width == 8) continue;
      for (const HostRounding& rounding : host_roundings) {
        const std::string name = std::string("cvt.") + rounding.word + "." + type + "." + from.name;
        Bench bench(name);
        ASSERT_TRUE(bench.is_pure()) << name;
        const int width = bench.sources[0].width;
        const Lanes a = edges(width, rng);
        bench.sources[0].set(a);
        const Lanes got = bench.run();
        for (size_t i = 0; i < 32; ++i) {
          const auto value = static_cast<long double>(interpret(a[i], from));
          with_format(type, [&]<class F>() {
            const auto b = static_cast<num::bits_of<F>>(got[i]);
            const long double result = num::to_double<F>(b);
            const bool towards_zero = rounding.mode == FE_TOWARDZERO;
            if (rounding.mode == FE_DOWNWARD || (towards_zero && value >= 0)) {
              EXPECT_LE(result, value) << name;
            }
            if (rounding.mode == FE_UPWARD || (towards_zero && value < 0)) {
              EXPECT_GE(result, value) << name;
            }
            const long double unit =
                num::to_double<F>((b & F::magnitude_mask) + 1) - num::to_double<F>(b & F::magnitude_mask);
            if (num::is_inf<F>(b) || unit > 1e38L) return;
            EXPECT_LE(std::fabs(result - value), rounding.mode == FE_TONEAREST ? unit / 2 : unit)
                << name << std::hex << a[i];
          });
        }
      }
    }
  }
}

TEST(Conversions, FloatsInWideRegistersAreZeroExtended) {
  for (const int d : {16, 32, 64}) {
    for (const int s : {32, 64}) {
      Bench bench("cvt.rn.f16.f32", {d, s});
      bench.sources[0].set(Lanes(32, 0xFFFFFFFFC0000000));
      EXPECT_EQ(bench.run()[31], 0xC000U) << d << ' ' << s;
    }
  }
  EXPECT_EQ(one_lane("cvt.sat.f32.f16", {0x4000}), 0x3F800000U);
  EXPECT_EQ(one_lane("cvt.rn.sat.f32.s32", {0xFFFFFFFF}), 0U);
  EXPECT_EQ(one_lane("cvt.rn.sat.f16.s32", {70000}), 0x3C00U);
}

TEST(Conversions, PackSaturatesAndKeepsWhatIsAbove) {
  EXPECT_EQ(one_lane("cvt.pack.sat.s16.s32", {70000, 0xFFFF0000}), 0x7FFF8000U);
  EXPECT_EQ(one_lane("cvt.pack.sat.u16.s32", {70000, 0xFFFF0000}), 0xFFFF0000U);
  EXPECT_EQ(one_lane("cvt.pack.sat.u8.s32.b32", {300, 0xFFFFFFFF, 0xABCD}), 0xABCDFF00U);
  EXPECT_EQ(one_lane("cvt.pack.sat.s8.s32.b32", {300, 0xFFFFFF00, 0xABCD}), 0xABCD7F80U);
  EXPECT_EQ(one_lane("cvt.pack.sat.s4.s32.b32", {100, 0xFFFFFF9C, 0xABCDEF}), 0xABCDEF78U);
  EXPECT_EQ(one_lane("cvt.pack.sat.u2.s32.b32", {2, 9, 0xABCDEF1}), 0xABCDEF1BU);
}

// cuda_bf16.h converts with registers of eight bits, which is the only width that ptxas takes there.
TEST(Conversions, BytesAndBf16MeetInRegistersOfBytes) {
  const auto one = [](const char* name, uint64_t from) {
    Bench bench(name);
    bench.sources[0].set(Lanes(32, from));
    bench.fn()(bench.arguments());
    return bench.destinations[0].get()[17];
  };
  EXPECT_EQ(one("cvt.rzi.s8.bf16", 0x4070), 3U);     // 3.75
  EXPECT_EQ(one("cvt.rzi.s8.bf16", 0xC348), 0x80U);  // -200
  EXPECT_EQ(one("cvt.rzi.u8.bf16", 0x4396), 0xFFU);  // 300
  EXPECT_EQ(one("cvt.rn.bf16.s8", 0x80), 0xC300U);   // -128
  EXPECT_EQ(one("cvt.rn.bf16.u8", 0xFF), 0x437FU);   // 255
}

}  // namespace
}  // namespace palladion::isa
