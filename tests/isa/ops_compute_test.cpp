// Floating and half arithmetic, comparisons and conversions, as instructions: the bits that an H200 gave,
// the host's own rounding modes, integer models of register widths, masks.
#include <bit>
#include <cfenv>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "isa/num/arith.h"
#include "tests/isa/num/samples.h"
#include "tests/isa/ops_harness.h"

namespace palladion::isa {
namespace {

using test::Bench;
using test::Lanes;

// --- what an H200 computed -----------------------------------------------------------------------------
struct Row {
  std::string instruction;
  std::vector<uint64_t> operands;
  uint64_t result = 0;
};

std::vector<Row> device_rows(const std::string& file) {
  std::ifstream in(std::string(PLD_SOURCE_DIR) + "/tests/device/special/" + file);
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#' || line.starts_with("instruction")) continue;
    std::istringstream fields(line);
    Row row;
    std::getline(fields, row.instruction, ',');
    for (std::string field; std::getline(fields, field, ',');)
      if (!field.empty()) row.operands.push_back(std::stoull(field, nullptr, 16));
    row.result = row.operands.back();
    row.operands.pop_back();
    rows.push_back(std::move(row));
  }
  return rows;
}

class DeviceRows : public testing::TestWithParam<const char*> {};

TEST_P(DeviceRows, AreReproduced) {
  const std::vector<Row> rows = device_rows(GetParam());
  ASSERT_GT(rows.size(), 1000U);
  std::map<std::string, std::pair<int, int>> wrong;  // instruction: rows, mismatches
  for (size_t at = 0; at < rows.size();) {
    const std::string& name = rows[at].instruction;
    Bench bench(name);
    ASSERT_TRUE(bench.is_pure()) << name;
    ASSERT_EQ(bench.sources.size(), rows[at].operands.size()) << name;
    size_t end = at;
    while (end < rows.size() && end - at < 32 && rows[end].instruction == name) ++end;
    for (size_t k = 0; k < bench.sources.size(); ++k) {
      Lanes lanes(32);
      for (size_t i = at; i < end; ++i) lanes[i - at] = rows[i].operands[k];
      bench.sources[k].set(lanes);
    }
    const Lanes got = bench.run();
    const int width = bench.destinations[0].width;
    for (size_t i = at; i < end; ++i) {
      const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
      auto& [total, bad] = wrong[name];
      ++total;
      if (got[i - at] == (rows[i].result & mask)) continue;
      if (++bad > 3) continue;
      std::ostringstream operands;
      for (const uint64_t o : rows[i].operands) operands << std::hex << o << ' ';
      ADD_FAILURE() << name << ' ' << operands.str() << "-> " << std::hex << got[i - at]
                    << ", the device gave " << rows[i].result;
    }
    at = end;
  }
  for (const auto& [name, count] : wrong)
    EXPECT_EQ(count.second, 0) << name << ": " << count.second << " of " << count.first << " rows differ";
}

INSTANTIATE_TEST_SUITE_P(H200, DeviceRows,
                         testing::Values("special_values_f32.csv", "special_values_f64.csv",
                                         "special_values_f16.csv", "special_values_bf16.csv",
                                         "special_values_cvt.csv"));

uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

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
    LaneArgs a{};
    a.d[0] = bench.destinations[0].bytes;
    for (size_t k = 0; k < bench.sources.size(); ++k) a.s[k] = bench.sources[k].bytes;
    a.mask = ~0U;
    bench.fn()(a);
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

// --- roundings against the host's -------------------------------------------------------------------------
struct HostRounding {
  const char* word;
  int mode;
};
constexpr HostRounding host_roundings[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

// noinline and volatile: the compiler must not move the operation out of the rounding mode.
template <class T>
[[gnu::noinline]] T host_operation(const std::string& op, T x, T y, T z, int mode) {
  volatile T a = x, b = y, c = z, r = 0;
  std::fesetround(mode);
  if (op == "add")
    r = a + b;
  else if (op == "sub")
    r = a - b;
  else if (op == "mul")
    r = a * b;
  else if (op == "fma" || op == "mad")
    r = std::fma(T{a}, T{b}, T{c});
  else if (op == "div")
    r = a / b;
  else if (op == "rcp")
    r = T{1} / a;
  else if (op == "sqrt")
    r = std::sqrt(T{a});
  std::fesetround(FE_TONEAREST);
  return r;
}

template <class F, class T>
std::vector<num::bits_of<F>> operands(size_t count, unsigned seed) {
  const auto special = num::test::corners<F>();
  std::mt19937_64 rng(seed);
  std::vector<num::bits_of<F>> all;
  for (size_t i = 0; i < count; ++i) {
    const auto b = rng() % 4 == 0 ? special[rng() % special.size()] : static_cast<num::bits_of<F>>(rng());
    // Near 1 half of the time: sums then cancel and align.
    all.push_back(rng() % 2 == 0 ? b
                                 : static_cast<num::bits_of<F>>(
                                       (b & ~F::infinity) | (F::one + (((b >> 3) % 5 - 2) << F::man_bits))));
  }
  return all;
}

template <class F, class T>
void compare_with_host(const std::string& type) {
  constexpr size_t count = 32 * 300;
  const auto a = operands<F, T>(count, 1), b = operands<F, T>(count, 2), c = operands<F, T>(count, 3);
  for (const char* op : {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"}) {
    for (const HostRounding& rounding : host_roundings) {
      const std::string name = std::string(op) + "." + rounding.word + "." + type;
      Bench bench(name);
      ASSERT_TRUE(bench.is_pure()) << name;
      int wrong = 0;
      for (size_t at = 0; at < count; at += 32) {
        const std::vector<num::bits_of<F>>* from[] = {&a, &b, &c};
        for (size_t k = 0; k < bench.sources.size(); ++k)
          bench.sources[k].set(Lanes(from[k]->begin() + at, from[k]->begin() + at + 32));
        const Lanes got = bench.run();
        for (size_t i = 0; i < 32; ++i) {
          const T expected = host_operation<T>(op, std::bit_cast<T>(a[at + i]), std::bit_cast<T>(b[at + i]),
                                               std::bit_cast<T>(c[at + i]), rounding.mode);
          const bool nan = expected != expected;
          const bool equal = nan ? num::is_nan<F>(static_cast<num::bits_of<F>>(got[i]))
                                 : got[i] == std::bit_cast<num::bits_of<F>>(expected);
          if (!equal && ++wrong < 4)
            ADD_FAILURE() << name << std::hex << ' ' << a[at + i] << ' ' << b[at + i] << ' ' << c[at + i]
                          << " -> " << got[i] << ", the host gives "
                          << std::bit_cast<num::bits_of<F>>(expected);
        }
      }
      EXPECT_EQ(wrong, 0) << name;
    }
  }
}

TEST(Floating, EveryRoundingEqualsTheHostsF32) { compare_with_host<num::F32, float>("f32"); }
TEST(Floating, EveryRoundingEqualsTheHostsF64) { compare_with_host<num::F64, double>("f64"); }

// --- modifiers
// --------------------------------------------------------------------------------------------------
uint64_t one_lane(const std::string& name, std::vector<uint64_t> operands) {
  Bench bench(name);
  for (size_t k = 0; k < operands.size(); ++k)
    bench.sources.at(k).set(Lanes(bench.sources[k].width == 1 ? 1 : 32, operands[k]));
  return bench.run()[7 % bench.destinations[0].get().size()];
}

TEST(Floating, ModifiersDoWhatTheManualSays) {
  EXPECT_EQ(one_lane("add.rn.f32", {0x00000001, 0x00000001}), 0x00000002U);
  EXPECT_EQ(one_lane("add.rn.ftz.f32", {0x00000001, 0x3F800000}), 0x3F800000U);
  EXPECT_EQ(one_lane("mul.ftz.f32", {0x80800000, 0x3F000000}), 0x80000000U)
      << "a subnormal result flushes to its sign's zero";
  EXPECT_EQ(one_lane("add.sat.f32", {0x3F800000, 0x3F800000}), 0x3F800000U);
  EXPECT_EQ(one_lane("fma.rn.sat.f32", {0xBF800000, 0x3F800000, 0}), 0U);
  EXPECT_EQ(one_lane("add.sat.f32", {0x7FC00000, 0}), 0U) << "NaN saturates to +0";
  EXPECT_EQ(one_lane("add.f32", {0x7F800000, 0xFF800000}), 0x7FFFFFFFU);
  EXPECT_EQ(one_lane("copysign.f32", {0x80000000, 0x40490FDB}), 0xC0490FDBU);
  EXPECT_EQ(one_lane("max.NaN.f32", {0x7F800001, 0x3F800000}), 0x7FFFFFFFU);
  EXPECT_EQ(one_lane("min.xorsign.abs.f32", {0xC0000000, 0x40400000}), 0xC0000000U);
  EXPECT_EQ(one_lane("fma.rn.relu.f16", {0xBC00, 0x3C00, 0}), 0U);
  EXPECT_EQ(one_lane("add.sat.f16x2", {0x40003C00, 0x4000BC00}), 0x3C000000U);
  EXPECT_EQ(one_lane("neg.bf16x2", {0x3F80BF80}), 0xBF803F80U);
}

TEST(Floating, TestpTellsTheClassesApart) {
  const struct {
    uint32_t value;
    bool finite, infinite, number, notanumber, normal, subnormal;
  } rows[] = {{0x00000000, true, false, true, false, true, false},
              {0x80000001, true, false, true, false, false, true},
              {0x3F800000, true, false, true, false, true, false},
              {0xFF800000, false, true, true, false, false, false},
              {0x7F800001, false, false, false, true, false, false}};
  for (const auto& row : rows) {
    const std::pair<const char*, bool> tests[] = {{"finite", row.finite}, {"infinite", row.infinite},
                                                  {"number", row.number}, {"notanumber", row.notanumber},
                                                  {"normal", row.normal}, {"subnormal", row.subnormal}};
    for (const auto& [word, expected] : tests) {
      Bench f32(std::string("testp.") + word + ".f32");
      f32.sources[0].set(Lanes(32, row.value));
      EXPECT_EQ(f32.run()[0], expected ? 0xFFFFFFFFU : 0U) << word << std::hex << row.value;
    }
  }
}

// --- comparisons
// ------------------------------------------------------------------------------------------------
bool compared(const std::string& cmp, double a, double b) {
  const bool nan = a != a || b != b;
  if (cmp == "num") return !nan;
  if (cmp == "nan") return nan;
  if (cmp.size() == 3) return nan || compared(cmp.substr(0, 2), a, b);
  if (nan) return false;
  if (cmp == "eq") return a == b;
  if (cmp == "ne") return a != b;
  if (cmp == "lt") return a < b;
  if (cmp == "le") return a <= b;
  return cmp == "gt" ? a > b : a >= b;
}
constexpr const char* comparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                       "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

template <class F>
double value_of(uint64_t b, bool ftz) {
  auto x = static_cast<num::bits_of<F>>(b);
  if (ftz) x = num::flush_subnormal<F>(x);
  return num::to_double<F>(x);
}

template <class F>
void check_setp(const std::string& type, bool has_ftz, bool has_q) {
  const auto special = num::test::corners<F>();
  std::mt19937_64 rng(5);
  for (const std::string cmp : comparisons) {
    for (const std::string op : {"", ".and", ".or", ".xor"}) {
      for (int ftz = 0; ftz <= (has_ftz ? 1 : 0); ++ftz) {
        const std::string name = "setp." + cmp + op + (ftz != 0 ? ".ftz." : ".") + type;
        const size_t operands = 3 + (has_q ? 1 : 0) + (op.empty() ? 0 : 1);
        Bench bench(name, {}, operands);
        ASSERT_TRUE(bench.is_pure()) << name;
        for (int round = 0; round < 8; ++round) {
          Lanes a(32), b(32);
          for (size_t i = 0; i < 32; ++i)
            a[i] = special[rng() % special.size()], b[i] = special[rng() % special.size()];
          const auto third = static_cast<uint32_t>(rng()), mask = static_cast<uint32_t>(rng()),
                     old = static_cast<uint32_t>(rng());
          bench.sources[0].set(a);
          bench.sources[1].set(b);
          if (!op.empty()) bench.sources[2].set({third});
          for (auto& d : bench.destinations) d.set({old});
          uint32_t p = 0;
          for (size_t i = 0; i < 32; ++i)
            p |= uint32_t{compared(cmp, value_of<F>(a[i], ftz != 0), value_of<F>(b[i], ftz != 0))} << i;
          auto combined = [&](uint32_t t) {
            return op.empty() ? t : op == ".and" ? t & third : op == ".or" ? t | third : t ^ third;
          };
          EXPECT_EQ(bench.run(mask)[0], (combined(p) & mask) | (old & ~mask)) << name;
          if (!has_q) continue;
          EXPECT_EQ(bench.destinations[1].get()[0], (combined(~p) & mask) | (old & ~mask)) << name;
        }
      }
    }
  }
}

TEST(Setp, EveryComparisonOfF32) { check_setp<num::F32>("f32", true, true); }
TEST(Setp, EveryComparisonOfF64) { check_setp<num::F64>("f64", false, true); }
TEST(Setp, EveryComparisonOfF16) { check_setp<num::F16>("f16", true, false); }
TEST(Setp, EveryComparisonOfBf16) { check_setp<num::Bf16>("bf16", false, false); }

TEST(Setp, APairAnswersLowHalvesInPAndHighOnesInQ) {
  Bench bench("setp.lt.and.f16x2", {}, 5);
  bench.sources[0].set(Lanes(32, 0x3C004000));  // high 1, low 2
  bench.sources[1].set(Lanes(32, 0x40003C00));  // high 2, low 1
  bench.sources[2].set({0x0000FFFF});
  EXPECT_EQ(bench.run()[0], 0U);
  EXPECT_EQ(bench.destinations[1].get()[0], 0x0000FFFFU);
}

TEST(Set, GivesOnesOfTheResultsType) {
  EXPECT_EQ(one_lane("set.lt.u32.f32", {0x3F800000, 0x40000000}), 0xFFFFFFFFU);
  EXPECT_EQ(one_lane("set.lt.f32.f32", {0x3F800000, 0x40000000}), 0x3F800000U);
  EXPECT_EQ(one_lane("set.ge.f32.f64", {0x3FF0000000000000, 0x4000000000000000}), 0U);
  EXPECT_EQ(one_lane("set.lt.and.f32.f32", {0x3F800000, 0x40000000, 0}), 0U);
  EXPECT_EQ(one_lane("set.eq.f16.s32", {5, 5}), 0x3C00U);
  EXPECT_EQ(one_lane("set.hi.bf16.u64", {~uint64_t{0}, 5}), 0x3F80U);
  EXPECT_EQ(one_lane("set.gt.bf16.s16", {0xFFFF, 5}), 0U);
  EXPECT_EQ(one_lane("set.nan.u16.f16", {0x7E00, 0}), 0xFFFFU);
  EXPECT_EQ(one_lane("set.eq.ftz.f16x2.f16x2", {0x00013C00, 0x00003C00}), 0x3C003C00U);
  EXPECT_EQ(one_lane("set.eq.u32.bf16x2", {0x00013F80, 0x00003F80}), 0x0000FFFFU);
}

// --- conversions: registers wider than the type
// -----------------------------------------------------------------
struct IntegerType {
  const char* name;
  int width;
  bool is_signed;
};
constexpr IntegerType integers[] = {{"u8", 8, false},   {"s8", 8, true},    {"u16", 16, false},
                                    {"s16", 16, true},  {"u32", 32, false}, {"s32", 32, true},
                                    {"u64", 64, false}, {"s64", 64, true}};

__extension__ using i128 = __int128;

i128 interpret(uint64_t bits, const IntegerType& t) {
  const uint64_t low = t.width == 64 ? bits : bits & ((uint64_t{1} << t.width) - 1);
  if (!t.is_signed || (low >> (t.width - 1) & 1) == 0) return low;
  return static_cast<i128>(low) - (static_cast<i128>(1) << t.width);
}
i128 lowest(const IntegerType& t) { return t.is_signed ? -(static_cast<i128>(1) << (t.width - 1)) : 0; }
i128 highest(const IntegerType& t) { return (static_cast<i128>(1) << (t.width - (t.is_signed ? 1 : 0))) - 1; }
uint64_t in_register(i128 value, int width) {
  const auto low = static_cast<uint64_t>(value);
  return width == 64 ? low : low & ((uint64_t{1} << width) - 1);
}

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
        if (match(name, 2).form == nullptr) {
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

TEST(Conversions, WhatOnlyBlackwellHasIsUnsupportedByName) {
  const auto reason = [](const std::string& name, size_t operands) {
    const Bench bench(name, {}, operands);
    const auto* u = std::get_if<Unsupported>(&bench.effect());
    return u == nullptr ? std::string() : u->reason;
  };
  EXPECT_NE(reason("cvt.rn.satfinite.e2m1x2.f32", 3).find("e2m1x2"), std::string::npos);
  EXPECT_NE(reason("cvt.rz.ue8m0x2.f32", 3).find("sm_100a"), std::string::npos);
  EXPECT_NE(reason("add.rn.f32x2", 3).find("sm_100"), std::string::npos);
  EXPECT_NE(reason("min.f32", 4).find("sm_100"), std::string::npos);
  EXPECT_NE(reason("fma.rn.oob.f16", 4).find("oob"), std::string::npos);
}

// --- lanes
// ------------------------------------------------------------------------------------------------------
TEST(Lanes, InactiveOnesKeepTheirValueAndDestinationsMayBeSources) {
  for (const std::string name :
       {"add.rn.f32", "fma.rm.f64", "mul.rn.f16", "add.rn.bf16x2", "min.f32", "cvt.rn.f16x2.f32",
        "cvt.f32.f16", "cvt.rzi.u8.f32", "cvt.rn.bf16.f32", "set.lt.f32.f32", "abs.f16x2"}) {
    Bench bench(name);
    ASSERT_TRUE(bench.is_pure()) << name;
    std::mt19937_64 rng(3);
    for (auto& s : bench.sources) {
      Lanes values(32);
      for (uint64_t& v : values) v = in_register(static_cast<i128>(rng()), s.width);
      s.set(values);
    }
    const Lanes full = bench.run();
    const Lanes old(32, 0x5A);
    bench.destinations[0].set(old);
    const Lanes some = bench.run(0x80FF0001);
    for (size_t i = 0; i < 32; ++i)
      EXPECT_EQ(some[i], (0x80FF0001 >> i & 1) != 0 ? full[i] : old[i]) << name << ' ' << i;
    if (bench.sources[0].width != bench.destinations[0].width) continue;
    LaneArgs a{};
    for (size_t k = 0; k < bench.sources.size(); ++k) a.s[k] = bench.sources[k].bytes;
    a.d[0] = bench.sources[0].bytes;
    a.mask = ~0U;
    bench.fn()(a);
    EXPECT_EQ(bench.sources[0].get(), full) << name << " in place";
  }
}

}  // namespace
}  // namespace palladion::isa
