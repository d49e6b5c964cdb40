// tcgen05.mma against the predictions of the published model, and the worked examples that show its rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "sim/numerics/tcgen05.h"

namespace palladion::sim::numerics::tcgen05 {
namespace {

using Words = std::vector<std::uint32_t>;

// One output: A and B of one row and column, their scales, C.
struct Dot {
  Kind kind;
  Element a_type, b_type;
  Result d_type;
  Words a, b;
  std::uint32_t c = 0;
  Words a_scales = {}, b_scales = {};
  Scale scale = Scale::ue8m0;
};

std::vector<std::uint8_t> raw_elements(const Dot& dot, Words elements, Element type) {
  elements.resize(static_cast<std::size_t>(k_of(dot.kind)));
  std::vector<std::uint8_t> out(elements.size() * static_cast<std::size_t>(tc::element_bits(type)) / 8);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (is_packed(dot.kind)) {
      out[i / 2] = static_cast<std::uint8_t>(out[i / 2] | elements[i] << i % 2 * 4);
      continue;
    }
    const std::size_t bytes = static_cast<std::size_t>(tc::element_bits(type)) / 8;
    for (std::size_t byte = 0; byte < bytes; ++byte)
      out[i * bytes + byte] = static_cast<std::uint8_t>(elements[i] >> 8 * byte);
  }
  return out;
}

// The same output in every place of a tile, on every level.
std::uint32_t tcgen05(const Dot& dot, const MultiplyOptions& options = {}) {
  const auto a = std::make_unique<AOperand>();
  const auto b = std::make_unique<BOperand>();
  const auto a_raw = raw_elements(dot, dot.a, dot.a_type), b_raw = raw_elements(dot, dot.b, dot.b_type);
  const std::vector<std::uint8_t> a_scales(dot.a_scales.begin(), dot.a_scales.end()),
      b_scales(dot.b_scales.begin(), dot.b_scales.end());
  const int count = static_cast<int>(a_scales.size());
  decode_a(
      *a, dot.kind, 32,
      {.type = dot.a_type, .rows = {a_raw.data(), 0}, .scales = {dot.scale, count, {a_scales.data(), 0}}});
  decode_b(
      *b, dot.kind, 24,
      {.type = dot.b_type, .rows = {b_raw.data(), 0}, .scales = {dot.scale, count, {b_scales.data(), 0}}});
  std::uint32_t result = 0;
  for (const SimdLevel level : {SimdLevel::avx2, tc::best_simd_level()}) {
    Words d(32 * 24, dot.c);
    MultiplyOptions o = options;
    o.level = level;
    multiply(*a, *b, dot.d_type, d.data(), 24, o);
    result = d[0];
    EXPECT_EQ(d, Words(d.size(), result)) << "outputs differ over the tile";
  }
  return result;
}

Words hex_words(const std::string& text) {
  Words out;
  std::stringstream in(text);
  for (std::string item; std::getline(in, item, ';');)
    out.push_back(static_cast<std::uint32_t>(std::stoul(item, nullptr, 16)));
  return out;
}

// Rows of a file as fields by the names of its second line.
using Fields = std::map<std::string, std::string>;
std::vector<Fields> read_fields(const std::string& name) {
  std::ifstream in(std::filesystem::path(PLD_SOURCE_DIR) / "tests/sim/numerics/data" / name);
  EXPECT_TRUE(in) << name;
  std::string line, item;
  std::getline(in, line);
  std::getline(in, line);
  std::vector<std::string> names;
  for (std::stringstream s(line); std::getline(s, item, ',');) names.push_back(item);
  std::vector<Fields> rows;
  while (std::getline(in, line)) {
    std::stringstream s(line);
    rows.emplace_back();
    for (const auto& n : names) std::getline(s, rows.back()[n], ',');
  }
  return rows;
}

const std::map<std::string, Element> element_names = {
    {"f16", Element::f16},   {"bf16", Element::bf16}, {"tf32", Element::tf32}, {"e4m3", Element::e4m3},
    {"e5m2", Element::e5m2}, {"e2m3", Element::e2m3}, {"e3m2", Element::e3m2}, {"e2m1", Element::e2m1}};

struct VectorFile {
  std::string name;
  Kind kind;
  Element type = Element::e2m1;
  Result d = Result::f32;
  Scale scale = Scale::ue8m0;
};

std::size_t expect_rows(const VectorFile& f) {
  std::size_t count = 0;
  for (Fields& row : read_fields("blackwell_tcgen05_" + f.name + ".csv")) {
    Dot dot{f.kind, f.type, f.type, f.d, hex_words(row["a"]), hex_words(row["b"]), hex_words(row["c"])[0]};
    if (row.contains("a_type")) {
      dot.a_type = element_names.at(row["a_type"]);
      dot.b_type = element_names.at(row["b_type"]);
      dot.d_type = row["d_type"] == "f16" ? Result::f16 : Result::f32;
    }
    if (row.contains("sa")) {
      dot.a_scales = hex_words(row["sa"]);
      dot.b_scales = hex_words(row["sb"]);
      dot.scale = f.scale;
    }
    EXPECT_EQ(tcgen05(dot), hex_words(row["d"])[0]) << f.name << " row " << count;
    if (testing::Test::HasFailure()) return count;
    ++count;
  }
  return count;
}

TEST(Tcgen05Vectors, EqualThePublishedModelOnEveryRow) {
  const VectorFile files[] = {
      {"f16_f32", Kind::f16, Element::f16},
      {"bf16_f32", Kind::f16, Element::bf16},
      {"f16_f16", Kind::f16, Element::f16, Result::f16},
      {"tf32_f32", Kind::tf32, Element::tf32},
      {"f8f6f4", Kind::f8f6f4},
      {"mxf8f6f4_e4m3_e4m3_f32", Kind::mxf8f6f4, Element::e4m3},
      {"mxf4nvf4_ue8m0_block32_f32", Kind::mxf4nvf4},
      {"mxf4nvf4_ue8m0_block16_f32", Kind::mxf4nvf4},
      {"mxf4nvf4_ue4m3_block16_f32", Kind::mxf4nvf4, Element::e2m1, Result::f32, Scale::ue4m3}};
  std::size_t rows = 0;
  for (const VectorFile& f : files) rows += expect_rows(f);
  EXPECT_EQ(rows, 8 * 300 + 1650u);
}

std::uint32_t f16_f32(Words a, Words b, std::uint32_t c, const MultiplyOptions& o = {}) {
  return tcgen05({Kind::f16, Element::f16, Element::f16, Result::f32, std::move(a), std::move(b), c}, o);
}
std::uint32_t e4m3_f32(Words a, Words b, std::uint32_t c) {
  return tcgen05({Kind::f8f6f4, Element::e4m3, Element::e4m3, Result::f32, std::move(a), std::move(b), c});
}
std::uint32_t mxf8(Words a, Words b, std::uint32_t sa, std::uint32_t sb, std::uint32_t c = 0) {
  return tcgen05(
      {Kind::mxf8f6f4, Element::e4m3, Element::e4m3, Result::f32, std::move(a), std::move(b), c, {sa}, {sb}});
}
std::uint32_t nvfp4(Words a, Words b, std::uint32_t c, const Words& scales = {0x38, 0x38, 0x38, 0x38}) {
  return tcgen05({Kind::mxf4nvf4,
                  Element::e2m1,
                  Element::e2m1,
                  Result::f32,
                  std::move(a),
                  std::move(b),
                  c,
                  scales,
                  {0x38, 0x38, 0x38, 0x38},
                  Scale::ue4m3});
}
std::uint32_t mxf4(Words a, Words b, Words sa) {
  return tcgen05({Kind::mxf4,
                  Element::e2m1,
                  Element::e2m1,
                  Result::f32,
                  std::move(a),
                  std::move(b),
                  0,
                  std::move(sa),
                  {0x7F, 0x7F}});
}

TEST(Tcgen05Vectors, KeepTwentyFiveFractionBitsOfFp8) {
  EXPECT_EQ(f16_f32({0xEC00, 0xB800, 0xB400, 0xB000}, {0x6800, 0x3C00, 0x3C00, 0x3C00}, 0x4B000000),
            0xBF400000u);
  EXPECT_EQ(e4m3_f32({}, {}, 0x3F801FFF), 0x3F801FFFu);
  EXPECT_EQ(e4m3_f32({0x38}, {0x38}, 0x4B800000), 0x4B800000u);  // 2^24 + 1
  EXPECT_EQ(e4m3_f32({0x38}, {0x38}, 0xCB800000), 0xCB7FFFFFu);
}

TEST(Tcgen05Vectors, SumThirtyTwoLargeProductsBeyondThirtyTwoBits) {
  const Words large(32, 0x3F), negative(32, 0xBF);    // 1.875
  EXPECT_EQ(e4m3_f32(large, large, 0), 0x42E10000u);  // 112.5
  EXPECT_EQ(e4m3_f32(large, negative, 0), 0xC2E10000u);
  EXPECT_EQ(e4m3_f32(large, negative, 0x7F800000), 0x7F800000u);
  // Beyond 2^31 units f32 keeps multiples of 2^8 of them: all eight bits of this C go.
  EXPECT_EQ(e4m3_f32(large, negative, 0xB6FF0000), 0xC2E10000u);
  // 91.875 + 2^-5 is a tie for f16, and 2^-25 decides it.
  Words a(30, 0x3F), b(30, 0x3F);
  a.insert(a.end(), {0x3C, 0x04});
  b.insert(b.end(), {0x28, 0x10});
  EXPECT_EQ(tcgen05({Kind::f8f6f4, Element::e5m2, Element::e5m2, Result::f16, a, b}), 0x55BFu);
}

TEST(Tcgen05Vectors, ScaleProductsByTheirBlocks) {
  EXPECT_EQ(mxf8({0x38}, {0x38}, 0x80, 0x82), 0x41800000u);
  EXPECT_EQ(mxf8({0x38}, {0x38}, 0xFE, 0xFE), 0x7F800000u);
  EXPECT_EQ(mxf8({0x38}, {0x38}, 0x00, 0x00), 0u);
  EXPECT_EQ(mxf8({}, {}, 0xFF, 0x7F), 0x7FFFFFFFu);
  EXPECT_EQ(mxf8({}, {}, 0x7F, 0xFF), 0x7FFFFFFFu);
  EXPECT_EQ(mxf8({}, {}, 0xFE, 0xFE, 0x3F800000), 0x3F800000u);  // zeros do not align where their scale says
}

// Where the scale of the products, which are all zero, would be infinite as an f32.
TEST(Tcgen05Vectors, LeaveCAloneWhereScalesAreHugeAndProductsZero) {
  for (std::uint32_t scale = 0x7F; scale < 0xFF; ++scale) {
    EXPECT_EQ(mxf8({}, {}, scale, 0x7F, 0x3F8ABCDE), 0x3F8ABCDEu);
    EXPECT_EQ(mxf8({}, {}, scale, scale, 0xBF8ABCDE), 0xBF8ABCDEu);
  }
}

TEST(Tcgen05Vectors, SumGroupsOfSixteenExactly) {
  const Words six(64, 7);
  EXPECT_EQ(nvfp4(six, six, 0), 0x45100000u);
  EXPECT_EQ(nvfp4({2}, {2}, 0xCB800000), 0xCB7FFFFFu);
  EXPECT_EQ(nvfp4({2}, {2}, 0xD1000000), 0xD0FFFFFFu);
  EXPECT_EQ(nvfp4({2}, {2}, 0xD1800000), 0xD1800000u);
  EXPECT_EQ(nvfp4({2}, {2}, 0, {0x7F, 0x38, 0x38, 0x38}), 0x7FFFFFFFu);
  const Words minus_one(64, 0xA), one(64, 2);
  EXPECT_EQ(nvfp4(minus_one, one, 0x80000000, {0, 0, 0, 0}), 0u);
  EXPECT_EQ(nvfp4({2}, {2}, 0, {0xB8, 0x38, 0x38, 0x38}),
            0x3F800000u);  // the sign bit of a scale is not read
}

TEST(Tcgen05Vectors, KeepTheExponentOfAGroupThatCancels) {
  Words a(64), b(64);
  a[0] = 2, a[1] = 0xA, b[0] = b[1] = 2;
  a[32] = b[32] = 1;
  EXPECT_EQ(mxf4(a, b, {0xA7, 0x7F}), 0u);
  a[0] = a[1] = 0;
  EXPECT_EQ(mxf4(a, b, {0xA7, 0x7F}), 0x3E800000u);
}

TEST(Tcgen05Vectors, ScaleCBeforeTheSum) {
  EXPECT_EQ(f16_f32({}, {}, 0x3F800000, {.scale_input_d = 3}), 0x3E000000u);
  EXPECT_EQ(f16_f32({0x3C00}, {0x3C00}, 0x40000000, {.scale_input_d = 1}), 0x40000000u);
  EXPECT_EQ(f16_f32({}, {}, 0x00800000, {.scale_input_d = 2}), 0x00200000u);
  const auto bf16 = [](std::uint32_t product, std::uint32_t c, int s) {
    return tcgen05(
        {Kind::f16, Element::bf16, Element::bf16, Result::f32, Words(16, product), Words(16, 0x3F80), c},
        {.scale_input_d = s});
  };
  for (const std::uint32_t huge : {0x7700u, 0x7780u, 0x7800u, 0x7880u}) {  // 2^111 and on, sixteen times
    EXPECT_EQ(bf16(huge, 0x7F800000, 15), 0x7F800000u);
    EXPECT_EQ(bf16(huge, 0xFF800000, 15), 0xFF800000u);
    EXPECT_EQ(bf16(huge, 0x7FC00000, 15), 0x7FFFFFFFu);
  }
  // C = 1.5 * 2^-24 becomes 1.5 * 2^-25 before it meets 2^-14 * 2^-11 as f16.
  const auto half = [](Words a, Words b, std::uint32_t c, int s) {
    return tcgen05({Kind::f16, Element::f16, Element::f16, Result::f16, std::move(a), std::move(b), c},
                   {.scale_input_d = s});
  };
  EXPECT_EQ(half({}, {}, 0x3C00, 1), 0x3800u);
  EXPECT_EQ(half({}, {}, 0x0003, 1), 0x0002u);
  EXPECT_EQ(half({0x0001}, {0x3800}, 0x0003, 1), 0x0002u);
}

// Products far below the largest of the tile, with nothing beside them but a C of zero.
TEST(Tcgen05Vectors, SeeTinyProductsUnderAScaledZero) {
  constexpr int m = 32, n = 72, k = 16;
  std::vector<std::uint16_t> a(m * k, 0x0040), b(n * k, 0x3C00);  // 2^-127, 2^-7
  std::fill_n(a.begin(), k, std::uint16_t{0x1F80});               // the first row: 2^-64
  std::fill_n(b.begin(), k, std::uint16_t{0x3F80});
  const auto x = std::make_unique<AOperand>();
  const auto y = std::make_unique<BOperand>();
  decode_a(*x, Kind::f16, m, {.type = Element::bf16, .rows = {a.data(), 2 * k}});
  decode_b(*y, Kind::f16, n, {.type = Element::bf16, .rows = {b.data(), 2 * k}});
  for (const SimdLevel level : {SimdLevel::avx2, tc::best_simd_level()}) {
    for (const int scale : {0, 1, 15}) {
      Words d(m * n);
      multiply(*x, *y, Result::f32, d.data(), n, {.scale_input_d = scale, .level = level});
      EXPECT_EQ(d[0], 0x21800000u);          // 2^-60
      EXPECT_EQ(d[n], 0x02000000u);          // 2^-123
      EXPECT_EQ(d[m * n - 1], 0x00080000u);  // 2^-130
    }
  }
}

}  // namespace
}  // namespace palladion::sim::numerics::tcgen05
