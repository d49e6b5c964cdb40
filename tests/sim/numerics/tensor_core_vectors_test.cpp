// The reference against data: model vectors that equal captures from the chip, probes measured on an H200,
// and the worked examples that show what each rule of the fused dot product does.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "sim/numerics/tensor_core.h"
#include "sim/numerics/tensor_core_reference.h"

namespace palladion::sim::numerics::tc {
namespace {

const std::filesystem::path data = std::filesystem::path(PLD_SOURCE_DIR) / "tests/sim/numerics/data";

std::vector<std::uint32_t> hex_list(const std::string& text) {
  std::vector<std::uint32_t> out;
  std::stringstream in(text);
  for (std::string item; std::getline(in, item, ';');)
    out.push_back(static_cast<std::uint32_t>(std::stoul(item, nullptr, 16)));
  return out;
}

struct Row {
  std::vector<std::uint32_t> a, b;
  std::uint32_t c, d;
};

std::vector<Row> read_rows(const std::string& name) {
  std::ifstream in(data / name);
  EXPECT_TRUE(in) << name;
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#' || line == "a,b,c,d") continue;
    std::stringstream fields(line);
    std::string field[4];
    for (auto& f : field) std::getline(fields, f, ',');
    rows.push_back({hex_list(field[0]), hex_list(field[1]), hex_list(field[2])[0], hex_list(field[3])[0]});
  }
  return rows;
}

std::uint32_t wgmma(Element a_type, Element b_type, Result d, std::vector<std::uint32_t> a,
                    std::vector<std::uint32_t> b, std::uint32_t c) {
  const FusedDotSpec spec = hopper_wgmma(a_type, d);
  a.resize(static_cast<std::size_t>(spec.products));
  b.resize(static_cast<std::size_t>(spec.products));
  std::vector<Unpacked> x, y;
  for (const auto bits : a) x.push_back(unpack(a_type, bits));
  for (const auto bits : b) y.push_back(unpack(b_type, bits));
  return fused_dot_add(x, y, unpack_c(d, c), spec);
}

std::uint32_t f16_f32(std::vector<std::uint32_t> a, std::vector<std::uint32_t> b, std::uint32_t c) {
  return wgmma(Element::f16, Element::f16, Result::f32, std::move(a), std::move(b), c);
}
std::uint32_t bf16_f32(std::vector<std::uint32_t> a, std::vector<std::uint32_t> b, std::uint32_t c) {
  return wgmma(Element::bf16, Element::bf16, Result::f32, std::move(a), std::move(b), c);
}
std::uint32_t tf32_f32(std::vector<std::uint32_t> a, std::vector<std::uint32_t> b, std::uint32_t c) {
  return wgmma(Element::tf32, Element::tf32, Result::f32, std::move(a), std::move(b), c);
}
std::uint32_t e4m3_f32(std::vector<std::uint32_t> a, std::vector<std::uint32_t> b, std::uint32_t c) {
  return wgmma(Element::e4m3, Element::e4m3, Result::f32, std::move(a), std::move(b), c);
}
std::uint32_t f16_f16(std::vector<std::uint32_t> a, std::vector<std::uint32_t> b, std::uint32_t c) {
  return wgmma(Element::f16, Element::f16, Result::f16, std::move(a), std::move(b), c);
}

Element element_named(const std::string& s) {
  if (s == "f16") return Element::f16;
  if (s == "bf16") return Element::bf16;
  if (s == "tf32") return Element::tf32;
  return s == "e4m3" ? Element::e4m3 : Element::e5m2;
}

struct File {
  const char* a;
  const char* b;
  const char* d;
  std::string name() const {
    const std::string types = a == std::string(b) && a[0] != 'e' ? a : std::string(a) + "_" + b;
    return "hopper_wgmma_" + types + "_" + d + ".csv";
  }
};

constexpr File files[] = {{"f16", "f16", "f32"},   {"bf16", "bf16", "f32"}, {"tf32", "tf32", "f32"},
                          {"f16", "f16", "f16"},   {"e4m3", "e4m3", "f32"}, {"e4m3", "e5m2", "f32"},
                          {"e5m2", "e4m3", "f32"}, {"e5m2", "e5m2", "f32"}, {"e4m3", "e4m3", "f16"},
                          {"e4m3", "e5m2", "f16"}, {"e5m2", "e4m3", "f16"}, {"e5m2", "e5m2", "f16"}};

TEST(TensorCoreReference, EqualsEveryHopperVector) {
  std::size_t rows = 0;
  for (const File& f : files) {
    for (const Row& r : read_rows(f.name())) {
      const Result d = f.d == std::string("f16") ? Result::f16 : Result::f32;
      ASSERT_EQ(wgmma(element_named(f.a), element_named(f.b), d, r.a, r.b, r.c), r.d)
          << f.name() << " row " << rows;
      ++rows;
    }
  }
  EXPECT_EQ(rows, 4 * 300 + 8 * 150u);
}

// Rows of little-endian elements.
std::vector<std::uint8_t> packed(const std::vector<std::uint32_t>& bits, int bytes) {
  std::vector<std::uint8_t> out;
  for (const auto x : bits) {
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(x >> (8 * i)));
  }
  return out;
}

void expect_fast_equals_vectors(const File& f, SimdLevel level) {
  const Element at = element_named(f.a), bt = element_named(f.b);
  const int bytes = element_bits(at) / 8;
  auto a = std::make_unique<AOperand>();
  auto b = std::make_unique<BOperand>();
  for (const Row& r : read_rows(f.name())) {
    const auto a_row = packed(r.a, bytes), b_row = packed(r.b, bytes);
    decode_a(*a, at, 64, 32 / bytes, {a_row.data(), 0});
    decode_b(*b, bt, 8, 32 / bytes, {b_row.data(), 0});
    if (f.d == std::string("f16")) {
      std::vector<std::uint16_t> d(64 * 8, static_cast<std::uint16_t>(r.c));
      multiply(*a, *b, d.data(), 8, {.level = level});
      ASSERT_EQ(d, std::vector<std::uint16_t>(64 * 8, static_cast<std::uint16_t>(r.d))) << f.name();
    } else {
      std::vector<float> d(64 * 8, std::bit_cast<float>(r.c));
      multiply(*a, *b, d.data(), 8, {.level = level});
      for (const float x : d) ASSERT_EQ(std::bit_cast<std::uint32_t>(x), r.d) << f.name();
    }
  }
}

TEST(TensorCoreTile, EqualsEveryHopperVectorOnEveryLevel) {
  for (const File& f : files) {
    expect_fast_equals_vectors(f, SimdLevel::avx2);
    if (best_simd_level() == SimdLevel::avx512) expect_fast_equals_vectors(f, SimdLevel::avx512);
  }
}

TEST(TensorCoreReference, KeepsTwentyFiveFractionBitsOfTheAlignedTerms) {
  EXPECT_EQ(f16_f32({0xEC00, 0xB800, 0xB400, 0xB000}, {0x6800, 0x3C00, 0x3C00, 0x3C00}, 0x4B000000),
            0xBF400000u);
  EXPECT_EQ(f16_f32({0x0C00, 0x0C00}, {0x0C00, 0x0C00}, 0x3F800000), 0x3F800001u);
  EXPECT_EQ(f16_f32({0x0C00, 0x0C00}, {0x0C00, 0x0C00}, 0xBF800000), 0xBF7FFFFEu);
  EXPECT_EQ(f16_f32({0x0C00, 0x0C00}, {0x0800, 0x0800}, 0x3F800000), 0x3F800000u);
  EXPECT_EQ(f16_f32({0x0C00, 0x0C00}, {0x0800, 0x0800}, 0xBF800000), 0xBF7FFFFFu);
  EXPECT_EQ(f16_f32({0x0800, 0x0800}, {0x0800, 0x0800}, 0xBF800000), 0xBF800000u);
  const std::vector<std::uint32_t> one(4, 0x3F80), small(4, 0x3340);  // 1.5 * 2^-25
  EXPECT_EQ(bf16_f32(one, small, 0x3F800000), 0x3F800001u);
  EXPECT_EQ(bf16_f32(one, small, 0xBF800000), 0xBF7FFFFEu);
  EXPECT_EQ(bf16_f32(one, small, 0), 0x34400000u);
}

TEST(TensorCoreReference, AlignsByFieldExponentsAndNeverRenormalises) {
  EXPECT_EQ(f16_f32({0x0200}, {0x7800}, 0xB3000000), 0x3F800000u);  // 2^-15 is a subnormal: aligns one higher
  EXPECT_EQ(f16_f32({0x3C00}, {0x3C00}, 0xB3000000), 0x3F7FFFFFu);
  EXPECT_EQ(bf16_f32({0x3FC0, 0x3400, 0x3380, 0x3380}, {0x3FC0, 0x3F80, 0x3F80, 0x3F80}, 0), 0x40100001u);
  EXPECT_EQ(bf16_f32({0x4010, 0x3400, 0x3380, 0x3380}, {0x3F80, 0x3F80, 0x3F80, 0x3F80}, 0), 0x40100001u);
}

TEST(TensorCoreReference, MayExceedF32InsideASum) {
  EXPECT_EQ(bf16_f32({0x7F00}, {0x4000}, 0), 0x7F800000u);
  EXPECT_EQ(bf16_f32({0x7F00, 0xFF00}, {0x4000, 0x3F80}, 0), 0x7F000000u);
}

TEST(TensorCoreReference, RoundsHalfResultsOnceToNearestEven) {
  EXPECT_EQ(f16_f16({0x7BFF, 0x3C00}, {0x3C00, 0x4B80}, 0), 0x7BFFu);
  EXPECT_EQ(f16_f16({0x7BFF, 0x3C00}, {0x3C00, 0x4C00}, 0), 0x7C00u);
  EXPECT_EQ(wgmma(Element::e4m3, Element::e4m3, Result::f16, {0x7E}, {0x7E}, 0), 0x7C00u);
}

TEST(TensorCoreReference, IgnoresTheLowThirteenBitsOfTf32) {
  EXPECT_EQ(tf32_f32({0x3F801FFF}, {0x3F801FFF}, 0), 0x3F800000u);
  EXPECT_EQ(tf32_f32({0x7F800001}, {0x3F800000}, 0), 0x7F800000u);
}

TEST(TensorCoreReference, KeepsThirteenBitsForFp8EvenOfC) {
  EXPECT_EQ(e4m3_f32({0x38}, {0x38}, 0x46000000), 0x46000400u);
  EXPECT_EQ(e4m3_f32({0x38}, {0x38}, 0x46800000), 0x46800000u);
  std::vector<std::uint32_t> tiny(32, 0x01);
  tiny[0] = 0x7E;
  EXPECT_EQ(e4m3_f32(tiny, tiny, 0), 0x48440000u);
  EXPECT_EQ(e4m3_f32({}, {}, 0x3F801FFF), 0x3F801C00u);
  EXPECT_EQ(e4m3_f32({}, {}, 0xBF800200), 0xBF800000u);
  EXPECT_EQ(e4m3_f32({}, {}, 0x7F7FFFFF), 0x7F7FFC00u);
  EXPECT_EQ(e4m3_f32({}, {}, 0x00001FFF), 0x00001C00u);
}

TEST(TensorCoreReference, AnswersSpecialsWithCanonicalNaN) {
  EXPECT_EQ(f16_f32({0x7C00}, {0x0000}, 0x3F800000), 0x7FFFFFFFu);
  EXPECT_EQ(f16_f32({0x7C00, 0xFC00}, {0x3C00, 0x3C00}, 0), 0x7FFFFFFFu);
  EXPECT_EQ(f16_f32({0xFE01}, {0x3C00}, 0), 0x7FFFFFFFu);
  EXPECT_EQ(f16_f32({0x7C00}, {0xBC00}, 0), 0xFF800000u);
  EXPECT_EQ(f16_f32({0x7C00}, {0xBC00}, 0x7F800000), 0x7FFFFFFFu);
  EXPECT_EQ(f16_f16({0x7C00}, {0x0000}, 0x3C00), 0x7FFFu);
  EXPECT_EQ(e4m3_f32({0xFF}, {0x00}, 0), 0x7FFFFFFFu);
}

// Probes P1 to P5, as the H200 answered them.
TEST(TensorCoreReference, EqualsTheProbesOfZerosAndSubnormals) {
  EXPECT_EQ(f16_f32({0x8000}, {0x3C00}, 0x80000000), 0u);
  EXPECT_EQ(bf16_f32({0x8100}, {0x3300}, 0), 0u);           // -2^-125 * 2^-25 leaves nothing
  EXPECT_EQ(bf16_f32({0xAF00}, {0x0580}, 0), 0x80000001u);  // -2^-33 * 2^-116 is the smallest
}

TEST(TensorCoreReference, CountsZerosAtTheMeasuredExponents) {
  // 2^-148 - 2^-158 and - 2^-159: the unit under a zero exponent of -133 is 2^-158.
  EXPECT_EQ(bf16_f32({0x1A80, 0x9880}, {0x1A80, 0x1780}, 0), 0x00000001u);
  EXPECT_EQ(bf16_f32({0x1A80, 0x9880}, {0x1A80, 0x1700}, 0), 0x00000002u);
  // f16: 2^-25 + 2^-46 is above half of 2^-24; 2^-47 is not seen.
  EXPECT_EQ(f16_f16({0x0800, 0x0002}, {0x0C00, 0x0002}, 0), 0x0001u);
  EXPECT_EQ(f16_f16({0x0800, 0x0002}, {0x0C00, 0x0001}, 0), 0x0000u);
}

TEST(TensorCoreReference, ChainsStepsOfLProducts) {
  // One under 2^14 is below the unit of 2 in each of two fp8 steps; f16 keeps both.
  std::vector<Unpacked> ones(64), halves(32, unpack(Element::f16, 0x3C00));
  ones[0] = ones[32] = unpack(Element::e4m3, 0x38);
  EXPECT_EQ(dot_chain(ones, ones, 0x46800000, Result::f32, hopper_wgmma(Element::e4m3, Result::f32)),
            0x46800000u);
  EXPECT_EQ(dot_chain(ones, ones, 0x46800000, Result::f32, hopper_wgmma(Element::f16, Result::f32)),
            0x46800400u);
  EXPECT_EQ(dot_chain(halves, halves, 0, Result::f16, hopper_wgmma(Element::f16, Result::f16)), 0x5000u);
}

TEST(TensorCoreReference, ClampsIntegersOnTheExactSum) {
  EXPECT_EQ(add_integer_sum(5, 0x7FFFFFFF, false), static_cast<std::int32_t>(0x80000004u));
  EXPECT_EQ(add_integer_sum(5, 0x7FFFFFFF, true), 0x7FFFFFFF);
  EXPECT_EQ(add_integer_sum(-5, -0x7FFFFFFF, true), static_cast<std::int32_t>(0x80000000u));
  EXPECT_EQ(integer_value(Element::s4, 0xF), -1);
  EXPECT_EQ(integer_value(Element::u4, 0xF), 15);
  EXPECT_EQ(integer_value(Element::s8, 0x80), -128);
}

}  // namespace
}  // namespace palladion::sim::numerics::tc
