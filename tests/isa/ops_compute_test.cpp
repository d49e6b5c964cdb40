// Floating and half arithmetic and conversions as instructions: the bits that an H200 gave, the host's own
// rounding modes, modifiers, masks.
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "isa/num/arith.h"
#include "isa/num/order.h"
#include "tests/device/special/record/operands.h"
#include "tests/isa/num/samples.h"
#include "tests/isa/ops_harness.h"
#include "tests/support/names.h"

namespace palladion::isa {
namespace {

using namespace test;

// --- what an H200 computed -----------------------------------------------------------------------------
struct Row {
  std::string instruction;
  std::vector<uint64_t> operands;
  uint64_t result = 0;
};

// Which of several NaN operands survives in f64 depends on the operand order that ptxas chooses.
bool has_several_f64_nans(const Row& row) {
  return row.instruction.ends_with(".f64") &&
         std::ranges::count_if(row.operands, [](uint64_t x) { return num::is_nan<num::F64>(x); }) > 1;
}

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
    if (!has_several_f64_nans(row)) rows.push_back(std::move(row));
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
                                         "special_values_cvt.csv"),
                         [](const auto& file) { return palladion::test::test_name(file.param); });

// --- hashes over generated operands ----------------------------------------------------------------------
using operands::mix64;

operands::Triple triple_for(const std::string& instruction, uint64_t index) {
  const std::string type = instruction.substr(instruction.rfind('.') + 1);
  if (type == "f64") return operands::triple(11, 52, index);
  if (type == "f16") return operands::triple(5, 10, index);
  return type == "bf16" ? operands::triple(8, 7, index) : operands::triple(8, 23, index);
}

// Adds for operands first .. first + 31 the term that the recording program adds.
template <class Operands, class Term>
uint64_t hash_of(Bench& bench, uint64_t first, uint64_t count, Operands operands_at, Term term) {
  uint64_t hash = 0;
  std::vector<Lanes> lanes(bench.sources.size(), Lanes(32));
  for (uint64_t at = first; at < first + count; at += 32) {
    for (size_t i = 0; i < 32; ++i) {
      const operands::Triple x = operands_at(at + i);
      const uint64_t values[] = {x.a, x.b, x.c};
      for (size_t k = 0; k < lanes.size(); ++k) lanes[k][i] = values[k];
    }
    for (size_t k = 0; k < lanes.size(); ++k) bench.sources[k].set(lanes[k]);
    const Lanes got = bench.run();
    for (size_t i = 0; i < 32; ++i) hash += term(at + i, got[i]);
  }
  return hash;
}

// One bucket of a table of hashes: by instruction, without those whose NaN ptxas chooses.
std::map<std::string, uint64_t> device_bucket(const std::string& file, size_t bucket) {
  std::ifstream in(std::string(PLD_SOURCE_DIR) + "/tests/device/special/" + file);
  std::string line;
  while (std::getline(in, line) && line[0] == '#') {
  }
  std::istringstream names(line);
  for (size_t k = 0; k <= bucket; ++k) std::getline(in, line);
  std::istringstream values(line);
  std::map<std::string, uint64_t> table;
  for (std::string name, value; std::getline(names, name, ',') && std::getline(values, value, ',');) {
    const bool chosen_nan = name.ends_with(".f64") && !name.starts_with("cvt") && !name.starts_with("div") &&
                            !name.starts_with("sqrt");
    if (name != "bucket" && !chosen_nan) table[name] = std::stoull(value, nullptr, 16);
  }
  return table;
}

TEST(DeviceHashes, OfGeneratedOperandsEqual) {
  constexpr uint64_t bucket = 21;
  const auto table = device_bucket("arithmetic_h200_hashes.csv", bucket);
  ASSERT_GT(table.size(), 70U);
  for (const auto& [name, hash] : table) {
    Bench bench(name);
    const auto at = [&](uint64_t i) { return triple_for(name, i); };
    const auto term = [](uint64_t i, uint64_t result) { return mix64(i ^ mix64(result)); };
    EXPECT_EQ(hash_of(bench, bucket << 18, 1 << 18, at, term), hash) << name;
  }
}

TEST(DeviceHashes, OfPairsOfHalvesEqual) {
  constexpr uint64_t bucket = 7;  // a: subnormals and small normals of f16, subnormals of bf16
  const auto table = device_bucket("pairs16_h200_hashes.csv", bucket);
  ASSERT_GT(table.size(), 10U);
  for (const auto& [name, hash] : table) {
    Bench bench(name);
    const auto at = [](uint64_t i) { return operands::Triple{i >> 16, i & 0xFFFF, 0}; };
    const auto term = [](uint64_t i, uint64_t result) { return mix64(i << 32 | result); };
    EXPECT_EQ(hash_of(bench, bucket << 23, 1 << 23, at, term), hash) << name;
  }
}

// --- roundings against the host's -------------------------------------------------------------------------
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
std::vector<num::bits_of<F>> random_operands(size_t count, unsigned seed) {
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
  const auto a = random_operands<F, T>(count, 1), b = random_operands<F, T>(count, 2),
             c = random_operands<F, T>(count, 3);
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

// The lanes' vector code against the portable scalar arithmetic, with every modifier.
template <num::ArithMods M>
void compare_with_scalar() {
  constexpr size_t count = 32 * 200;
  const auto a = random_operands<num::F32, float>(count, 4), b = random_operands<num::F32, float>(count, 5),
             c = random_operands<num::F32, float>(count, 6);
  const char* rounding = M.rounding == num::Rounding::rn   ? ".rn"
                         : M.rounding == num::Rounding::rz ? ".rz"
                         : M.rounding == num::Rounding::rm ? ".rm"
                                                           : ".rp";
  const std::string words = std::string(rounding) + (M.ftz ? ".ftz" : "") + (M.sat ? ".sat" : "") + ".f32";
  Bench add("add" + words), sub("sub" + words), mul("mul" + words), fma("fma" + words);
  for (size_t at = 0; at < count; at += 32) {
    for (Bench* bench : {&add, &sub, &mul, &fma}) {
      bench->sources[0].set(Lanes(a.begin() + at, a.begin() + at + 32));
      bench->sources[1].set(Lanes(b.begin() + at, b.begin() + at + 32));
    }
    fma.sources[2].set(Lanes(c.begin() + at, c.begin() + at + 32));
    const Lanes sums = add.run(), differences = sub.run(), products = mul.run(), fused = fma.run();
    for (size_t i = 0; i < 32; ++i) {
      const uint32_t x = a[at + i], y = b[at + i], z = c[at + i];
      ASSERT_EQ(sums[i], (num::add<num::F32, M>(x, y))) << words << std::hex << ' ' << x << ' ' << y;
      ASSERT_EQ(differences[i], (num::sub<num::F32, M>(x, y))) << words << std::hex << ' ' << x << ' ' << y;
      ASSERT_EQ(products[i], (num::mul<num::F32, M>(x, y))) << words << std::hex << ' ' << x << ' ' << y;
      ASSERT_EQ(fused[i], (num::fma<num::F32, M>(x, y, z)))
          << words << std::hex << ' ' << x << ' ' << y << ' ' << z;
    }
  }
}

TEST(Floating, EveryModifierInEveryRounding) {
  using R = num::Rounding;
  const auto all = [](auto rounding) {
    constexpr R r = rounding.value;
    compare_with_scalar<num::ArithMods{r}>();
    compare_with_scalar<num::ArithMods{r, true}>();
    compare_with_scalar<num::ArithMods{r, false, true}>();
    compare_with_scalar<num::ArithMods{r, true, true}>();
  };
  all(std::integral_constant<R, R::rn>{});
  all(std::integral_constant<R, R::rz>{});
  all(std::integral_constant<R, R::rm>{});
  all(std::integral_constant<R, R::rp>{});
}

TEST(Floating, EveryRoundingEqualsTheHostsF32) { compare_with_host<num::F32, float>("f32"); }
TEST(Floating, EveryRoundingEqualsTheHostsF64) { compare_with_host<num::F64, double>("f64"); }

// --- modifiers
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

// --- lanes
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
    LaneArgs a = bench.arguments();
    a.d[0] = bench.sources[0].bytes;
    bench.fn()(a);
    EXPECT_EQ(bench.sources[0].get(), full) << name << " in place";
  }
}

}  // namespace
}  // namespace palladion::isa
