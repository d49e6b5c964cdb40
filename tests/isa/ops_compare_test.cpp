// setp and set of floats and halves: every comparison and combination against a model.
#include <random>

#include "tests/isa/num/samples.h"
#include "tests/isa/ops_harness.h"

namespace palladion::isa {
namespace {

using namespace test;

// --- comparisons
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

TEST(Setp, EveryComparisonOfF32) {
  check_setp<num::F32>("f32", true, true);
  check_setp<num::F32>("f32", true, false);
}
TEST(Setp, EveryComparisonOfF64) {
  check_setp<num::F64>("f64", false, true);
  check_setp<num::F64>("f64", false, false);
}
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

}  // namespace
}  // namespace palladion::isa
