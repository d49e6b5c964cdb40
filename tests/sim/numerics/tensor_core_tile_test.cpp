// The fast tile kernels against the scalar reference, bit by bit, on every level that this processor has.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <ostream>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "sim/numerics/tensor_core.h"
#include "sim/numerics/tensor_core_reference.h"
#include "tests/sim/numerics/printed_types.h"
#include "tests/sim/numerics/random_elements.h"
#include "tests/support/names.h"

namespace palladion::sim::numerics::tc {
namespace {

struct Types {
  Element a, b;
  Result d;
};
void PrintTo(const Types& t, std::ostream* os) { *os << types_text(t.a, t.b, t.d); }

std::vector<std::uint32_t> random_matrix(Element type, Kind kind, int rows, int k, Rng& rng) {
  std::vector<std::uint32_t> bits(static_cast<std::size_t>(rows * k));
  const Fields f = fields_of(type);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < k; ++i)
      bits[static_cast<std::size_t>(r * k + i)] = random_element(f, kind, r, i, rng);
  }
  return bits;
}

// Bytes of a [rows][k] matrix, transposed if wanted, with `gap` bytes after each row.
struct Bytes {
  std::vector<std::uint8_t> bytes;
  std::ptrdiff_t stride;
  std::vector<const void*> pointers;
};
Bytes lay_out(const std::vector<std::uint32_t>& bits, int rows, int k, int element, Major major, int gap) {
  const int lines = major == Major::k ? rows : k;
  const int length = major == Major::k ? k : rows;
  Bytes out{{}, length * element + gap, {}};
  out.bytes.resize(static_cast<std::size_t>(lines * out.stride));
  for (int l = 0; l < lines; ++l) {
    for (int i = 0; i < length; ++i) {
      const int at = major == Major::k ? l * k + i : i * k + l;
      std::memcpy(&out.bytes[static_cast<std::size_t>(l * out.stride + i * element)],
                  &bits[static_cast<std::size_t>(at)], static_cast<std::size_t>(element));
    }
    out.pointers.push_back(&out.bytes[static_cast<std::size_t>(l * out.stride)]);
  }
  return out;
}

std::vector<Unpacked> unpacked(Element type, const std::vector<std::uint32_t>& bits, bool negate) {
  std::vector<Unpacked> out;
  out.reserve(bits.size());
  for (const auto x : bits) {
    out.push_back(unpack(type, x));
    out.back().negative ^= negate;
  }
  return out;
}

std::vector<std::uint32_t> reference(const Types& t, const std::vector<Unpacked>& a,
                                     const std::vector<Unpacked>& b, const std::vector<std::uint32_t>& c,
                                     int n, int k) {
  std::vector<std::uint32_t> d(c.size());
  const FusedDotSpec spec = hopper_wgmma(t.a, t.d);
  for (int i = 0; i < static_cast<int>(c.size()); ++i) {
    const std::span row(&a[static_cast<std::size_t>(i / n * k)], static_cast<std::size_t>(k));
    const std::span column(&b[static_cast<std::size_t>(i % n * k)], static_cast<std::size_t>(k));
    d[static_cast<std::size_t>(i)] =
        fused_dot_add(row, column, unpack_c(t.d, c[static_cast<std::size_t>(i)]), spec);
  }
  return d;
}

// The tile through multiply(), in a matrix with a margin that must stay untouched.
template <class T>
std::vector<std::uint32_t> fast(const AOperand& a, const BOperand& b, const std::vector<std::uint32_t>& c,
                                const MultiplyOptions& options) {
  const int margin = 3;
  const int stride = b.n + margin;
  std::vector<T> d(
      static_cast<std::size_t>(a.m * stride),
      std::bit_cast<T>(
          static_cast<std::make_unsigned_t<std::conditional_t<std::is_same_v<T, float>, std::int32_t, T>>>(
              0x1234)));
  for (int i = 0; i < a.m * b.n; ++i)
    std::memcpy(&d[static_cast<std::size_t>(i / b.n * stride + i % b.n)], &c[static_cast<std::size_t>(i)],
                sizeof(T));
  multiply(a, b, d.data(), stride, options);
  std::vector<std::uint32_t> out(c.size());
  for (int row = 0; row < a.m; ++row) {
    for (int column = 0; column < stride; ++column) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &d[static_cast<std::size_t>(row * stride + column)], sizeof(T));
      if (column < b.n) {
        out[static_cast<std::size_t>(row * b.n + column)] = bits;
      } else {
        EXPECT_EQ(bits, 0x1234u) << "wrote beside the tile";
      }
    }
  }
  return out;
}

std::vector<std::uint32_t> fast(Result d, const AOperand& a, const BOperand& b,
                                const std::vector<std::uint32_t>& c, const MultiplyOptions& options) {
  switch (d) {
    case Result::f32:
      return fast<float>(a, b, c, options);
    case Result::f16:
      return fast<std::uint16_t>(a, b, c, options);
    default:
      return fast<std::int32_t>(a, b, c, options);
  }
}

std::vector<SimdLevel> levels() {
  if (best_simd_level() == SimdLevel::avx512) return {SimdLevel::avx2, SimdLevel::avx512};
  return {SimdLevel::avx2};
}

class Tiles : public testing::TestWithParam<Types> {
 protected:
  Tiles() : a_(std::make_unique<AOperand>()), b_(std::make_unique<BOperand>()) {}

  struct Setup {
    Kind a, b;
    CKind c;
    int n;
  };

  void check(const Setup& s) {
    const Types t = GetParam();
    const int size = element_bits(t.a) / 8;
    const int k = 32 / size;
    const auto a_bits = random_matrix(t.a, s.a, max_m, k, rng_);
    const auto b_bits = random_matrix(t.b, s.b, s.n, k, rng_);
    std::vector<std::uint32_t> c(static_cast<std::size_t>(max_m * s.n));
    for (auto& x : c) x = random_c(t.d, s.c, rng_);
    const bool negate_a = rng_() % 4 == 0, negate_b = rng_() % 4 == 0, zero_c = rng_() % 8 == 0;
    const Major a_major = rng_() % 2 ? Major::k : Major::mn, b_major = rng_() % 2 ? Major::k : Major::mn;
    const Bytes a = lay_out(a_bits, max_m, k, size, a_major, 32 * below(rng_, 2));
    const Bytes b = lay_out(b_bits, s.n, k, size, b_major, 5 * below(rng_, 2));
    decode_a(*a_, t.a, max_m, k, {.rows = a.pointers.data()}, a_major, negate_a);
    decode_b(*b_, t.b, s.n, k, {b.bytes.data(), b.stride}, b_major, negate_b);
    const auto expected = reference(t, unpacked(t.a, a_bits, negate_a), unpacked(t.b, b_bits, negate_b),
                                    zero_c ? std::vector<std::uint32_t>(c.size()) : c, s.n, k);
    for (const SimdLevel level : levels()) {
      const auto got = fast(t.d, *a_, *b_, c, {.zero_c = zero_c, .level = level});
      for (std::size_t i = 0; i < c.size(); ++i) {
        ASSERT_EQ(got[i], expected[i])
            << std::hex << "c " << c[i] << std::dec << " at " << i / s.n << "," << i % s.n << " of n " << s.n
            << " a " << static_cast<int>(s.a) << " b " << static_cast<int>(s.b) << " c kind "
            << static_cast<int>(s.c) << " level " << static_cast<int>(level);
      }
      outputs_ += c.size();
    }
  }

  Rng rng_{20261120};
  std::size_t outputs_ = 0;
  std::unique_ptr<AOperand> a_;
  std::unique_ptr<BOperand> b_;
};

TEST_P(Tiles, EqualTheReferenceOnEveryMixOfDistributions) {
  int i = 0;
  const int widths[] = {8, 24, 64, 40, 128, 8, 16, 256, 72};
  for (const Kind a : kinds) {
    for (const Kind b : kinds) {
      for (int c = 0; c < 2; ++c) {  // a different two of seven each time
        check({a, b, c_kinds[i * 2 % 7], i % 31 == 0 ? widths[i / 31 % 9] : widths[i % 3]});
        if (HasFatalFailure()) return;
        ++i;
      }
    }
  }
  EXPECT_GT(outputs_, 300'000u * levels().size());
}

TEST_P(Tiles, EqualTheReferenceWhereSumsLeaveThirtyTwoBits) {
  for (int i = 0; i < 4; ++i) check({Kind::full, Kind::full, CKind::similar, 128});
}

TEST_P(Tiles, EqualTheReferenceOverAChainOfSteps) {
  const Types t = GetParam();
  const int size = element_bits(t.a) / 8, k = 32 / size, n = 64;
  for (const SimdLevel level : levels()) {
    std::vector<std::uint32_t> expected(static_cast<std::size_t>(max_m * n)), got = expected;
    for (int step = 0; step < 6; ++step) {
      const auto a_bits = random_matrix(t.a, Kind::ordinary, max_m, k, rng_);
      const auto b_bits = random_matrix(t.b, Kind::ordinary, n, k, rng_);
      const Bytes a = lay_out(a_bits, max_m, k, size, Major::k, 0),
                  b = lay_out(b_bits, n, k, size, Major::k, 0);
      decode_a(*a_, t.a, max_m, k, {a.bytes.data(), a.stride});
      decode_b(*b_, t.b, n, k, {b.bytes.data(), b.stride});
      expected = reference(t, unpacked(t.a, a_bits, false), unpacked(t.b, b_bits, false), expected, n, k);
      got = fast(t.d, *a_, *b_, got, {.level = level});
    }
    EXPECT_EQ(got, expected);
  }
}

// 2:4 sparsity in dense form: what was not selected makes no product, not even with an infinity.
TEST_P(Tiles, LeaveOutWhatSparsityDidNotSelect) {
  const Types t = GetParam();
  const int size = element_bits(t.a) / 8, k = 64 / size, n = 24;
  auto a_bits = random_matrix(t.a, Kind::ordinary, max_m, k, rng_);
  const auto b_bits = random_matrix(t.b, Kind::few_specials, n, k, rng_);
  std::vector<std::uint64_t> selected(max_m);
  for (int m = 0; m < max_m; ++m) {
    for (int i = 0; i < k; i += 4)
      selected[static_cast<std::size_t>(m)] |= std::uint64_t{rng_() & 1 ? 0x5u : 0xAu} << i;
    for (int i = 0; i < k; ++i) {
      if (!((selected[static_cast<std::size_t>(m)] >> i) & 1))
        a_bits[static_cast<std::size_t>(m * k + i)] = 0;
    }
  }
  const Bytes a = lay_out(a_bits, max_m, k, size, Major::k, 0), b = lay_out(b_bits, n, k, size, Major::k, 0);
  decode_a(*a_, t.a, max_m, k, {a.bytes.data(), a.stride});
  decode_b(*b_, t.b, n, k, {b.bytes.data(), b.stride});
  select_sparse(*a_, selected.data());
  const std::vector<std::uint32_t> c(static_cast<std::size_t>(max_m * n));
  const auto ua = unpacked(t.a, a_bits, false), ub = unpacked(t.b, b_bits, false);
  for (const SimdLevel level : levels()) {
    const auto got = fast(t.d, *a_, *b_, c, {.level = level});
    for (int i = 0; i < max_m * n; ++i) {
      std::vector<Unpacked> x, y;
      for (int j = 0; j < k; ++j) {
        if (!((selected[static_cast<std::size_t>(i / n)] >> j) & 1)) continue;
        x.push_back(ua[static_cast<std::size_t>(i / n * k + j)]);
        y.push_back(ub[static_cast<std::size_t>(i % n * k + j)]);
      }
      ASSERT_EQ(got[static_cast<std::size_t>(i)], fused_dot_add(x, y, {}, hopper_wgmma(t.a, t.d)));
    }
  }
}

constexpr Types float_types[] = {
    {Element::f16, Element::f16, Result::f32},   {Element::bf16, Element::bf16, Result::f32},
    {Element::tf32, Element::tf32, Result::f32}, {Element::f16, Element::f16, Result::f16},
    {Element::e4m3, Element::e4m3, Result::f32}, {Element::e4m3, Element::e5m2, Result::f32},
    {Element::e5m2, Element::e4m3, Result::f32}, {Element::e5m2, Element::e5m2, Result::f32},
    {Element::e4m3, Element::e4m3, Result::f16}, {Element::e4m3, Element::e5m2, Result::f16},
    {Element::e5m2, Element::e4m3, Result::f16}, {Element::e5m2, Element::e5m2, Result::f16}};
INSTANTIATE_TEST_SUITE_P(Floats, Tiles, testing::ValuesIn(float_types), palladion::test::printed_name<Types>);

class IntegerTiles : public testing::TestWithParam<Types> {};

TEST_P(IntegerTiles, EqualExactSums) {
  const Types t = GetParam();
  Rng rng(7);
  const auto a = std::make_unique<AOperand>();
  const auto b = std::make_unique<BOperand>();
  for (const int n : {8, 24, 64, 128, 256, 72}) {
    for (const bool extreme : {false, true}) {
      std::vector<std::uint8_t> x(64 * 32), y(static_cast<std::size_t>(n * 32));
      for (auto* v : {&x, &y}) {
        for (auto& byte : *v) byte = static_cast<std::uint8_t>(extreme ? (rng() & 1 ? 0x80 : 0xFF) : rng());
      }
      std::vector<std::uint32_t> c(static_cast<std::size_t>(64 * n));
      for (auto& v : c)
        v = static_cast<std::uint32_t>(rng() % 3 ? rng() : (rng() & 1 ? 0x7FFFFFF0u : 0x80000010u));
      const int k = 256 / element_bits(t.a);
      decode_a(*a, t.a, 64, k, {x.data(), 32});
      decode_b(*b, t.b, n, k, {y.data(), 32});
      for (const bool saturate : {false, true}) {
        std::vector<std::uint32_t> expected(c.size());
        for (int i = 0; i < 64 * n; ++i) {
          std::int64_t sum = 0;
          for (int j = 0; j < 32; ++j) {
            const std::uint8_t p = x[static_cast<std::size_t>(i / n * 32 + j)],
                               q = y[static_cast<std::size_t>(i % n * 32 + j)];
            sum += t.a == Element::b1 ? std::popcount(static_cast<unsigned>(p & q))
                                      : integer_value(t.a, p) * integer_value(t.b, q);
          }
          const auto bits = static_cast<std::int32_t>(c[static_cast<std::size_t>(i)]);
          expected[static_cast<std::size_t>(i)] =
              static_cast<std::uint32_t>(add_integer_sum(sum, bits, saturate));
        }
        for (const SimdLevel level : levels()) {
          ASSERT_EQ(fast(Result::s32, *a, *b, c, {.saturate = saturate, .level = level}), expected)
              << "n " << n;
        }
      }
    }
  }
}

constexpr Types integer_types[] = {{Element::s8, Element::s8, Result::s32},
                                   {Element::s8, Element::u8, Result::s32},
                                   {Element::u8, Element::s8, Result::s32},
                                   {Element::u8, Element::u8, Result::s32},
                                   {Element::b1, Element::b1, Result::s32}};
INSTANTIATE_TEST_SUITE_P(Integers, IntegerTiles, testing::ValuesIn(integer_types),
                         palladion::test::printed_name<Types>);

TEST(TensorCoreTile, LeavesTheRoundingModeOfItsCallerAlone) {
  const auto a = std::make_unique<AOperand>();
  const auto b = std::make_unique<BOperand>();
  const std::vector<std::uint8_t> zeros(64 * 32);
  std::vector<float> d(64 * 64);
  decode_a(*a, Element::f16, 64, 16, {zeros.data(), 32});
  decode_b(*b, Element::f16, 64, 16, {zeros.data(), 32});
  const unsigned before = __builtin_ia32_stmxcsr();
  multiply(*a, *b, d.data(), 64);
  EXPECT_EQ(__builtin_ia32_stmxcsr(), before);
}

}  // namespace
}  // namespace palladion::sim::numerics::tc
