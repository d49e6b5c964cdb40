#include "sim/numerics/tensor_core_mma_sync.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "sim/numerics/tensor_core_reference.h"
#include "tests/sim/numerics/printed_types.h"
#include "tests/support/names.h"

namespace palladion::sim::numerics::tc {

void PrintTo(const MmaSync& op, std::ostream* os) {
  *os << "m" << op.m << "n" << op.n << "k" << op.k << "_" << types_text(op.a, op.b, op.d);
}

namespace {

using Rng = std::mt19937_64;
using ByteVector = std::vector<std::uint8_t>;

ByteVector random_bytes(std::size_t n, Rng& rng) {
  ByteVector out(n);
  for (auto& x : out) x = static_cast<std::uint8_t>(rng());
  return out;
}

// Finite floats only: one exponent bit of every element is cleared.
ByteVector random_floats(Element type, int count, Rng& rng) {
  const int size = element_bits(type) / 8;
  ByteVector out = random_bytes(static_cast<std::size_t>(count * size), rng);
  for (int i = size - 1; i < count * size; i += size)
    out[static_cast<std::size_t>(i)] &= rng() & 1 ? 0xBF : 0xFB;
  return out;
}

std::uint32_t element(const ByteVector& m, int index, int size) {
  std::uint32_t x = 0;
  std::memcpy(&x, &m[static_cast<std::size_t>(index * size)], static_cast<std::size_t>(size));
  return x;
}

std::vector<Unpacked> row_of(const ByteVector& m, Element type, int row, int k) {
  std::vector<Unpacked> out;
  for (int i = 0; i < k; ++i) out.push_back(unpack(type, element(m, row * k + i, element_bits(type) / 8)));
  return out;
}

class OneStep : public testing::TestWithParam<MmaSync> {};

TEST_P(OneStep, IsOneFusedDotProduct) {
  const MmaSync op = GetParam();
  ASSERT_TRUE(is_modelled(op));
  Rng rng(11);
  const int c_size = op.d == Result::f16 ? 2 : 4;
  for (int trial = 0; trial < 50; ++trial) {
    const ByteVector a = random_floats(op.a, op.m * op.k, rng), b = random_floats(op.b, op.n * op.k, rng);
    const ByteVector c = trial % 2 ? random_bytes(static_cast<std::size_t>(op.m * op.n * c_size), rng)
                                   : ByteVector(static_cast<std::size_t>(op.m * op.n * c_size));
    ByteVector d(c.size());
    mma_sync(op, a.data(), b.data(), c.data(), d.data());
    for (int i = 0; i < op.m * op.n; ++i) {
      const auto expected = fused_dot_add(row_of(a, op.a, i / op.n, op.k), row_of(b, op.b, i % op.n, op.k),
                                          unpack_c(op.d, element(c, i, c_size)), hopper_wgmma(op.a, op.d));
      ASSERT_EQ(element(d, i, c_size), expected);
    }
  }
}

constexpr MmaSync steps[] = {{Element::f16, Element::f16, Result::f32, 16, 8, 16},
                             {Element::f16, Element::f16, Result::f32, 16, 8, 8},
                             {Element::f16, Element::f16, Result::f16, 16, 8, 16},
                             {Element::f16, Element::f16, Result::f16, 16, 8, 8},
                             {Element::bf16, Element::bf16, Result::f32, 16, 8, 16},
                             {Element::bf16, Element::bf16, Result::f32, 16, 8, 8},
                             {Element::tf32, Element::tf32, Result::f32, 16, 8, 8},
                             {Element::tf32, Element::tf32, Result::f32, 16, 8, 4}};
INSTANTIATE_TEST_SUITE_P(Shapes, OneStep, testing::ValuesIn(steps), palladion::test::printed_name<MmaSync>);

// fp8 as f16 bits, through exact values.
std::uint32_t as_f16(Element type, std::uint32_t bits) {
  const Unpacked one = unpack(Element::e4m3, 0x38);
  return fused_dot_add({{unpack(type, bits)}}, {{one}}, {}, {1, 25, Rounding::f16, -133});
}

std::uint32_t two_halves(const MmaSync& op, const ByteVector& a, const ByteVector& b, int i,
                         std::uint32_t c) {
  std::uint32_t sum = 0;
  for (const int first : {0, 2}) {
    std::vector<Unpacked> x, y;
    for (int k = 0; k < op.k; ++k) {
      if (k % 4 != first && k % 4 != first + 1) continue;
      x.push_back(unpack(Element::f16, as_f16(op.a, a[static_cast<std::size_t>(i / op.n * op.k + k)])));
      y.push_back(unpack(Element::f16, as_f16(op.b, b[static_cast<std::size_t>(i % op.n * op.k + k)])));
    }
    sum = fused_dot_add(x, y, unpack_c(op.d, sum), hopper_wgmma(Element::f16, op.d));
  }
  // The last addition rounds to nearest: an exact sum of two, rounded once.
  const Unpacked s = unpack_c(op.d, sum), t = unpack_c(op.d, c);
  const auto value = [](const Unpacked& u) {
    const double v = u.kind == Unpacked::Class::nan ? NAN
                     : u.kind == Unpacked::Class::infinity
                         ? INFINITY
                         : std::ldexp(double(u.significand), u.exponent - 23);
    return u.negative ? -v : v;
  };
  const double exact = value(s) + value(t);
  if (std::isnan(exact)) return op.d == Result::f16 ? 0x7FFF : 0x7FFFFFFF;
  if (op.d == Result::f32)
    return std::bit_cast<std::uint32_t>(static_cast<float>(value(s)) + static_cast<float>(value(t)));
  if (std::isinf(exact)) return exact > 0 ? 0x7C00 : 0xFC00;
  if (exact == 0) return std::signbit(exact) ? 0x8000 : 0;
  return round_sum(static_cast<std::int64_t>(std::ldexp(exact, 24)), 1, {1, 25, Rounding::f16, -133});
}

class Fp8 : public testing::TestWithParam<MmaSync> {};

TEST_P(Fp8, RunsAsTwoHalvesInF16AndAnAddition) {
  const MmaSync op = GetParam();
  ASSERT_TRUE(is_modelled(op));
  Rng rng(12);
  const int c_size = op.d == Result::f16 ? 2 : 4;
  for (int trial = 0; trial < 60; ++trial) {
    const auto make = [&](Element t, int n) {
      return trial % 3 ? random_floats(t, n, rng) : random_bytes(static_cast<std::size_t>(n), rng);
    };
    const ByteVector a = make(op.a, op.m * op.k), b = make(op.b, op.n * op.k);
    const ByteVector c = random_bytes(static_cast<std::size_t>(op.m * op.n * c_size), rng);
    ByteVector d = c;
    mma_sync(op, a.data(), b.data(), d.data(), d.data());
    for (int i = 0; i < op.m * op.n; ++i) {
      ASSERT_EQ(element(d, i, c_size), two_halves(op, a, b, i, element(c, i, c_size)))
          << std::hex << element(c, i, c_size);
    }
  }
}

constexpr MmaSync fp8_steps[] = {{Element::e4m3, Element::e4m3, Result::f32, 16, 8, 32},
                                 {Element::e4m3, Element::e5m2, Result::f16, 16, 8, 32},
                                 {Element::e5m2, Element::e4m3, Result::f32, 16, 8, 16},
                                 {Element::e5m2, Element::e5m2, Result::f16, 16, 8, 16}};
INSTANTIATE_TEST_SUITE_P(Shapes, Fp8, testing::ValuesIn(fp8_steps), palladion::test::printed_name<MmaSync>);

// The difference to wgmma, where 1 vanishes under 2^14.
TEST(MmaSync, Fp8KeepsAllOfC) {
  const ByteVector one_hot = [] {
    ByteVector x(16 * 32);
    for (int r = 0; r < 16; ++r) x[static_cast<std::size_t>(r * 32)] = 0x38;
    return x;
  }();
  std::vector<float> d(16 * 8, 16384.0f);
  mma_sync({Element::e4m3, Element::e4m3, Result::f32, 16, 8, 32}, one_hot.data(), one_hot.data(), d.data(),
           d.data());
  EXPECT_EQ(d, std::vector<float>(16 * 8, 16385.0f));
}

int value_at(const ByteVector& m, Element type, int index) {
  const int bits = element_bits(type);
  return integer_value(
      type, static_cast<std::uint32_t>(m[static_cast<std::size_t>(index * bits / 8)] >> (index * bits % 8)));
}

TEST(MmaSync, IntegersAreExactSumsThatWrapOrClampOnce) {
  using enum Element;
  Rng rng(13);
  const MmaSync ops[] = {{s8, s8, Result::s32, 16, 8, 32}, {s8, u8, Result::s32, 16, 8, 16},
                         {u8, u8, Result::s32, 8, 8, 16},  {s4, s4, Result::s32, 16, 8, 64},
                         {s4, u4, Result::s32, 16, 8, 32}, {u4, s4, Result::s32, 8, 8, 32}};
  for (MmaSync op : ops) {
    for (int trial = 0; trial < 40; ++trial) {
      op.saturate = trial % 2;
      ASSERT_TRUE(is_modelled(op));
      const auto bytes = static_cast<std::size_t>(op.k * element_bits(op.a) / 8);
      const ByteVector a = random_bytes(bytes * static_cast<std::size_t>(op.m), rng),
                       b = random_bytes(bytes * static_cast<std::size_t>(op.n), rng);
      std::vector<std::int32_t> c(static_cast<std::size_t>(op.m * op.n)), d(c.size());
      for (auto& x : c) x = static_cast<std::int32_t>(rng() & 1 ? 0x7FFFFF00u : 0x80000100u);
      mma_sync(op, a.data(), b.data(), c.data(), d.data());
      for (int i = 0; i < op.m * op.n; ++i) {
        std::int64_t sum = 0;
        for (int k = 0; k < op.k; ++k)
          sum += value_at(a, op.a, i / op.n * op.k + k) * value_at(b, op.b, i % op.n * op.k + k);
        ASSERT_EQ(d[static_cast<std::size_t>(i)],
                  add_integer_sum(sum, c[static_cast<std::size_t>(i)], op.saturate));
      }
    }
  }
}

TEST(MmaSync, BinaryCountsBitsOfAndOrXor) {
  Rng rng(14);
  for (const auto bit_op : {MmaSync::BitOp::and_popc, MmaSync::BitOp::xor_popc}) {
    for (const int k : {128, 256}) {
      const MmaSync op{.a = Element::b1, .b = Element::b1, .d = Result::s32, .k = k, .bit_op = bit_op};
      ASSERT_TRUE(is_modelled(op));
      const ByteVector a = random_bytes(static_cast<std::size_t>(16 * k / 8), rng),
                       b = random_bytes(static_cast<std::size_t>(8 * k / 8), rng);
      const std::vector<std::int32_t> c(16 * 8, -3);
      std::vector<std::int32_t> d(16 * 8);
      mma_sync(op, a.data(), b.data(), c.data(), d.data());
      for (int i = 0; i < 16 * 8; ++i) {
        int count = 0;
        for (int j = 0; j < k; ++j) {
          const int x = value_at(a, Element::b1, i / 8 * k + j), y = value_at(b, Element::b1, i % 8 * k + j);
          count += bit_op == MmaSync::BitOp::and_popc ? x & y : x ^ y;
        }
        ASSERT_EQ(d[static_cast<std::size_t>(i)], count - 3);
      }
    }
  }
}

TEST(MmaSync, DoublesAreAChainOfFma) {
  const MmaSync op{Element::f64, Element::f64, Result::f64, 16, 8, 4};
  ASSERT_TRUE(is_modelled(op));
  std::vector<double> a(16 * 4), b(8 * 4), d(16 * 8, 1.0);
  a[0] = b[0] = 1.0 + 0x1p-30;  // the product needs 61 bits
  a[1] = -1.0, b[1] = 1.0;
  a[3] = -1.0, b[3] = 1.0;
  mma_sync(op, a.data(), b.data(), d.data(), d.data());
  EXPECT_EQ(d[0], 0x1p-29);  // 2^-60 was rounded away under 2, in the first step
  EXPECT_EQ(d[1], 1.0);
}

TEST(MmaSync, SparseTakesTheSelectedElementsOnly) {
  const MmaSync op{.a = Element::f16, .b = Element::f16, .d = Result::f32, .k = 32, .sparse = true};
  ASSERT_TRUE(is_modelled(op));
  std::vector<std::uint16_t> a(16 * 32), b(8 * 32, 0x3C00);
  std::vector<std::uint64_t> selected(16);
  for (int m = 0; m < 16; ++m) {
    for (int g = 0; g < 32; g += 4) {
      a[static_cast<std::size_t>(m * 32 + g + 1)] = a[static_cast<std::size_t>(m * 32 + g + 3)] = 0x3C00;
      selected[static_cast<std::size_t>(m)] |= std::uint64_t{0xA} << g;
    }
  }
  b[0] = 0x7C00;  // infinity where no element of A exists
  std::vector<float> d(16 * 8);
  mma_sync(op, a.data(), b.data(), d.data(), d.data(), selected.data());
  EXPECT_EQ(d, std::vector<float>(16 * 8, 16.0f));
}

TEST(MmaSync, NamesWhatItDoesNotModel) {
  EXPECT_FALSE(is_modelled({Element::f16, Element::f16, Result::f32, 8, 8, 4}));
  EXPECT_FALSE(is_modelled({Element::bf16, Element::bf16, Result::f16, 16, 8, 16}));
  EXPECT_FALSE(is_modelled({Element::f16, Element::bf16, Result::f32, 16, 8, 16}));
  EXPECT_FALSE(is_modelled({.a = Element::e4m3, .b = Element::e4m3, .k = 64, .sparse = true}));
}

}  // namespace
}  // namespace palladion::sim::numerics::tc
