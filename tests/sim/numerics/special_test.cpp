// The approximate functions against hashes and special values recorded on an H200.
//
// Each run checks some buckets of 2^23 inputs a function; PLD_EXHAUSTIVE=1 checks all 2^32 inputs of each
// (minutes).
#include "sim/numerics/special.h"
#include "tests/support/names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace palladion::sim::numerics {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr U64 mix64(U64 z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::stringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

/// The rows of a csv file without its comments; the first is the header.
std::vector<std::vector<std::string>> read_csv(const std::string& path) {
  std::ifstream file(std::string(PLD_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(file.good()) << path;
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') rows.push_back(split(line));
  }
  return rows;
}

/// The recorded hashes of one function, by bucket.
std::vector<U64> recorded(const std::string& path, const std::string& instruction) {
  const auto rows = read_csv(path);
  const auto column = std::find(rows[0].begin(), rows[0].end(), instruction) - rows[0].begin();
  EXPECT_LT(column, std::ssize(rows[0])) << instruction;
  std::vector<U64> hashes;
  for (std::size_t i = 1; i < rows.size(); ++i) hashes.push_back(std::stoull(rows[i][column], nullptr, 16));
  return hashes;
}

/// Fills 32 results for the inputs first..first+31.
using Block = void (*)(U32 first, U32* result);

template <void (*fn)(const U32*, U32*)>
void unary_block(U32 first, U32* result) {
  for (U32 i = 0; i < 32; ++i) result[i] = first + i;
  fn(result, result);
}

template <void (*fn)(const U32*, const U32*, U32*)>
void quotient_block(U32 first, U32* result) {
  U32 a[32], b[32];
  for (U32 i = 0; i < 32; ++i) {
    const U64 pair = mix64(first + i);
    a[i] = static_cast<U32>(pair >> 32);
    b[i] = static_cast<U32>(pair);
  }
  fn(a, b, result);
}

template <void (*fn)(const U64*, U64*)>
void high_word_block(U32 first, U32* result) {
  U64 x[32];
  for (U32 i = 0; i < 32; ++i) x[i] = U64{first + i} << 32;
  fn(x, x);
  for (U32 i = 0; i < 32; ++i) result[i] = static_cast<U32>(x[i] >> 32);
}

U64 bucket_hash(Block block, U32 bucket) {
  U64 hash = 0;
  U32 result[32];
  for (U32 i = 0; i < 1u << 23; i += 32) {
    const U32 first = (bucket << 23) + i;
    block(first, result);
    for (U32 lane = 0; lane < 32; ++lane) hash += mix64(U64{first + lane} << 32 | result[lane]);
  }
  return hash;
}

struct Function {
  const char* instruction;
  Block block;
  std::vector<U32> buckets;  // checked in each run: where reductions, scalings and flushing change
};
void PrintTo(const Function& f, std::ostream* os) { *os << f.instruction; }

const std::vector<Function>& functions() {
  namespace w = warp_wide;
  static const std::vector<Function> all = {
      {"rcp.approx.ftz.f32", unary_block<w::rcp_approx_ftz_f32>, {0x000, 0x07f, 0x0fd, 0x1fe}},
      {"rcp.approx.f32", unary_block<w::rcp_approx_f32>, {0x000, 0x0fd, 0x0fe, 0x1ff}},
      {"rsqrt.approx.ftz.f32", unary_block<w::rsqrt_approx_ftz_f32>, {0x07f, 0x080, 0x1ff}},
      {"rsqrt.approx.f32", unary_block<w::rsqrt_approx_f32>, {0x000, 0x100}},
      {"sqrt.approx.ftz.f32", unary_block<w::sqrt_approx_ftz_f32>, {0x001, 0x07e, 0x07f}},
      {"sqrt.approx.f32", unary_block<w::sqrt_approx_f32>, {0x000, 0x100}},
      {"ex2.approx.ftz.f32", unary_block<w::ex2_approx_ftz_f32>, {0x065, 0x07f, 0x17e, 0x185}},
      {"ex2.approx.f32", unary_block<w::ex2_approx_f32>, {0x085, 0x185, 0x186}},
      {"lg2.approx.ftz.f32", unary_block<w::lg2_approx_ftz_f32>, {0x07e, 0x07f, 0x0fe}},
      {"lg2.approx.f32", unary_block<w::lg2_approx_f32>, {0x000, 0x001}},
      {"sin.approx.f32", unary_block<w::sin_approx_f32>, {0x07f, 0x085, 0x18b}},
      {"cos.approx.f32", unary_block<w::cos_approx_f32>, {0x068, 0x080, 0x180}},
      {"tanh.approx.f32", unary_block<w::tanh_approx_f32>, {0x077, 0x07e, 0x080, 0x181}},
      {"rcp.approx.ftz.f64", high_word_block<w::rcp_approx_ftz_f64>, {0x000, 0x0ff, 0x1ff}},
      {"rsqrt.approx.ftz.f64", high_word_block<w::rsqrt_approx_ftz_f64>, {0x000, 0x0ff, 0x100}},
      {"div.approx.f32", quotient_block<w::div_approx_f32>, {0x000}},
      {"div.approx.ftz.f32", quotient_block<w::div_approx_ftz_f32>, {0x001}},
      {"div.full.f32", quotient_block<w::div_full_f32>, {0x002}},
      {"div.full.ftz.f32", quotient_block<w::div_full_ftz_f32>, {0x003}},
  };
  return all;
}

class SpecialFunction : public testing::TestWithParam<Function> {};

TEST_P(SpecialFunction, EqualsTheDevice) {
  const Function& function = GetParam();
  const auto want = recorded("tests/sim/numerics/data/special_h200_hashes.csv", function.instruction);
  ASSERT_EQ(want.size(), 512u);
  std::vector<U32> buckets = function.buckets;
  for (U32 everywhere : {0x03cu, 0x1a8u}) buckets.push_back(everywhere);
  if (std::getenv("PLD_EXHAUSTIVE") != nullptr) {
    buckets.resize(512);
    for (U32 i = 0; i < 512; ++i) buckets[i] = i;
  }
  std::vector<U64> got(buckets.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < buckets.size();) got[i] = bucket_hash(function.block, buckets[i]);
  };
  std::vector<std::jthread> pool;
  for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1u, 16u); ++i)
    pool.emplace_back(work);
  pool.clear();
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    EXPECT_EQ(got[i], want[buckets[i]]) << function.instruction << ", bucket " << std::hex << buckets[i];
  }
}

INSTANTIATE_TEST_SUITE_P(H200, SpecialFunction, testing::ValuesIn(functions()),
                         palladion::test::printed_name<Function>);

TEST(SpecialFunction16, EqualTheDeviceForEveryInput) {
  const std::map<std::string, U16 (*)(U16)> forms = {
      {"ex2.approx.f16", [](U16 h) { return ex2_approx_f16(h); }},
      {"tanh.approx.f16", [](U16 h) { return tanh_approx_f16(h); }},
      {"ex2.approx.ftz.bf16", [](U16 h) { return ex2_approx_ftz_bf16(h); }},
      {"tanh.approx.bf16", [](U16 h) { return tanh_approx_bf16(h); }}};
  for (const auto& [instruction, form] : forms) {
    const auto want = recorded("tests/sim/numerics/data/special16_h200_hashes.csv", instruction);
    ASSERT_EQ(want.size(), 16u);
    std::vector<U64> got(16);
    for (U32 i = 0; i < 65536; ++i) got[i >> 12] += mix64(U64{i} << 32 | form(static_cast<U16>(i)));
    EXPECT_EQ(got, want) << instruction;
  }
}

/// The operands of the recorded rsqrt.approx.f64: random, near one, subnormal, and negative ones.
U64 recorded_operand(U32 i) {
  constexpr U64 sign = U64{1} << 63;
  U64 a = mix64(i);
  if (i & 1) a &= ~sign;
  if ((i & 6) == 2) a = (a & 0x800fffffffffffff) | U64{1023 + (i >> 3) % 16 - 8} << 52;
  if ((i & 6) == 4) a &= 0x801fffffffffffff;
  if ((i & 14) == 6) a >>= a & 63;
  return a;
}

TEST(SpecialFunction64, ReciprocalSquareRootEqualsTheDevice) {
  const auto want = recorded("tests/sim/numerics/data/special16_h200_hashes.csv", "rsqrt.approx.f64");
  std::vector<U64> got(16);
  for (U32 i = 0; i < 65536; ++i) {
    const U64 x = recorded_operand(i);
    got[i >> 12] += mix64(mix64(x) + rsqrt_approx_f64(x));
  }
  EXPECT_EQ(got, want);
}

/// `instruction` applied to the operands of a recorded row; false if it is not one of ours.
bool evaluate(const std::string& instruction, U64 a, U64 b, U64& result) {
  const U32 x = static_cast<U32>(a), y = static_cast<U32>(b);
  const std::map<std::string, U64> forms = {{"rcp.approx.f32", rcp_approx_f32(x)},
                                            {"rcp.approx.ftz.f32", rcp_approx_ftz_f32(x)},
                                            {"rsqrt.approx.f32", rsqrt_approx_f32(x)},
                                            {"rsqrt.approx.ftz.f32", rsqrt_approx_ftz_f32(x)},
                                            {"sqrt.approx.f32", sqrt_approx_f32(x)},
                                            {"sqrt.approx.ftz.f32", sqrt_approx_ftz_f32(x)},
                                            {"ex2.approx.f32", ex2_approx_f32(x)},
                                            {"ex2.approx.ftz.f32", ex2_approx_ftz_f32(x)},
                                            {"lg2.approx.f32", lg2_approx_f32(x)},
                                            {"lg2.approx.ftz.f32", lg2_approx_ftz_f32(x)},
                                            {"sin.approx.f32", sin_approx_f32(x)},
                                            {"sin.approx.ftz.f32", sin_approx_ftz_f32(x)},
                                            {"cos.approx.f32", cos_approx_f32(x)},
                                            {"cos.approx.ftz.f32", cos_approx_ftz_f32(x)},
                                            {"tanh.approx.f32", tanh_approx_f32(x)},
                                            {"div.approx.f32", div_approx_f32(x, y)},
                                            {"div.approx.ftz.f32", div_approx_ftz_f32(x, y)},
                                            {"div.full.f32", div_full_f32(x, y)},
                                            {"div.full.ftz.f32", div_full_ftz_f32(x, y)},
                                            {"rcp.approx.ftz.f64", rcp_approx_ftz_f64(a)},
                                            {"rsqrt.approx.ftz.f64", rsqrt_approx_ftz_f64(a)},
                                            {"rsqrt.approx.f64", rsqrt_approx_f64(a)},
                                            {"ex2.approx.f16", ex2_approx_f16(static_cast<U16>(a))},
                                            {"tanh.approx.f16", tanh_approx_f16(static_cast<U16>(a))},
                                            {"ex2.approx.ftz.bf16", ex2_approx_ftz_bf16(static_cast<U16>(a))},
                                            {"tanh.approx.bf16", tanh_approx_bf16(static_cast<U16>(a))}};
  const auto found = forms.find(instruction);
  if (found != forms.end()) result = found->second;
  return found != forms.end();
}

TEST(SpecialValues, ZeroesInfinitiesNansAndSubnormalsAsOnTheDevice) {
  const auto rows = read_csv("tests/device/special/special_values_approx.csv");
  ASSERT_GT(rows.size(), 1700u);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const auto operand = [&](int k) { return row[k].empty() ? U64{0} : std::stoull(row[k], nullptr, 16); };
    U64 result = 0;
    ASSERT_TRUE(evaluate(row[0], operand(1), operand(2), result)) << row[0];
    EXPECT_EQ(result, operand(4)) << row[0] << " " << row[1] << " " << row[2];
  }
}

TEST(SpecialValues, QuirksThatSurprise) {
  EXPECT_EQ(lg2_approx_f32(0x3f000000), 0xbf7ffffeu) << "log2(0.5) is not -1";
  EXPECT_EQ(sin_approx_f32(0x40490fdb), 0u) << "sin(pi) is zero";
  EXPECT_EQ(ex2_approx_ftz_f32(0xb3800000), 0x3f800000u) << "a negative power that is one";
  EXPECT_EQ(rcp_approx_ftz_f32(0x7f000000), 0u) << "a subnormal reciprocal is flushed";
  EXPECT_EQ(rcp_approx_f32(0x7f000000), 0x00400000u) << "unless .ftz is absent";
  EXPECT_EQ(tanh_approx_f32(0x00000001), 0x00000001u) << "tanh keeps subnormals";
}

TEST(WarpWide, PackedFormsAreTheScalarOnesOfBothHalves) {
  U32 in[32], ex2_half[32], tanh_half[32], ex2_brain[32], tanh_brain[32];
  for (U32 block = 0; block < 2048; ++block) {
    for (U32 i = 0; i < 32; ++i) in[i] = static_cast<U32>(mix64(block * 32 + i));
    warp_wide::ex2_approx_f16x2(in, ex2_half);
    warp_wide::tanh_approx_f16x2(in, tanh_half);
    warp_wide::ex2_approx_ftz_bf16x2(in, ex2_brain);
    warp_wide::tanh_approx_bf16x2(in, tanh_brain);
    for (int i = 0; i < 32; ++i) {
      const U16 low = static_cast<U16>(in[i]), high = static_cast<U16>(in[i] >> 16);
      const auto packed = [&](auto fn) { return U32{fn(low)} | U32{fn(high)} << 16; };
      ASSERT_EQ(ex2_half[i], packed([](U16 h) { return numerics::ex2_approx_f16(h); }));
      ASSERT_EQ(tanh_half[i], packed([](U16 h) { return numerics::tanh_approx_f16(h); }));
      ASSERT_EQ(ex2_brain[i], packed([](U16 h) { return numerics::ex2_approx_ftz_bf16(h); }));
      ASSERT_EQ(tanh_brain[i], packed([](U16 h) { return numerics::tanh_approx_bf16(h); }));
    }
  }
}

/// The bounds that the PTX manual states, against double precision.
TEST(Accuracy, IsWhatTheManualPromises) {
  const auto value = [](U32 x) { return static_cast<double>(std::bit_cast<float>(x)); };
  for (U32 i = 0; i < 1u << 20; ++i) {
    const U32 x = 0x3c000000 + static_cast<U32>(mix64(i) >> 38);  // 2^-7 .. 2^9, positive
    const double v = value(x);
    const auto relative = [&](U32 got, double want) { return std::abs(value(got) - want) / std::abs(want); };
    ASSERT_LE(relative(rcp_approx_f32(x), 1 / v), 0x1p-23);
    ASSERT_LE(relative(rsqrt_approx_f32(x), 1 / std::sqrt(v)), 0x1.13p-23);  // 2^-22.9
    ASSERT_LE(relative(sqrt_approx_f32(x), std::sqrt(v)), 0x1p-23);
    ASSERT_LE(relative(tanh_approx_f32(x), std::tanh(v)), 0x1p-11);
    ASSERT_LE(std::abs(value(lg2_approx_f32(x)) - std::log2(v)),
              std::max(0x1p-22, 0x1p-22 * std::abs(std::log2(v))));
    if (v < 6.28) {
      ASSERT_LE(std::abs(value(sin_approx_f32(x)) - std::sin(v)), 0x1.6ap-21);  // 2^-20.5
      ASSERT_LE(std::abs(value(cos_approx_f32(x)) - std::cos(v)), 0x1.6ap-21);
    }
    if (v < 127) {
      ASSERT_LE(relative(ex2_approx_f32(x), std::exp2(v)), 0x1p-22);
    }
  }
}

}  // namespace
}  // namespace palladion::sim::numerics
