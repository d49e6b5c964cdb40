// Whole tiles of tcgen05.mma against an independent model, bit by bit, on every level that this processor
// has. PLD_OUTPUTS sets how many outputs of each case are compared: 1000000 is a night's work.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <ostream>
#include <vector>

#include "sim/numerics/tcgen05.h"
#include "sim/numerics/tensor_core_reference.h"
#include "tests/sim/numerics/printed_types.h"
#include "tests/sim/numerics/random_elements.h"
#include "tests/sim/numerics/tcgen05_model.h"
#include "tests/support/names.h"

namespace palladion::sim::numerics::tcgen05 {
namespace {

using tc::below;
using tc::Rng;
using Bytes = std::vector<std::uint8_t>;

struct Case {
  Kind kind;
  Element a, b;
  Result d;
  int scales = 0;  // a row
  Scale scale = Scale::ue8m0;
};
void PrintTo(const Case& c, std::ostream* os) {
  constexpr const char* kinds[] = {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"};
  *os << kinds[static_cast<int>(c.kind)] << "_" << tc::types_text(c.a, c.b, c.d);
  if (c.scales) *os << "_" << c.scales << (c.scale == Scale::ue8m0 ? "ue8m0" : "ue4m3");
}

std::size_t outputs_of_a_case() {
  const char* text = std::getenv("PLD_OUTPUTS");
  return text ? std::strtoull(text, nullptr, 10) : 40'000;
}

// One operand: element bits [rows][k], how they lie in memory, their scales.
struct Operand {
  Element type;
  int rows, k;
  bool packed;
  std::vector<std::uint32_t> bits;
  Bytes raw, scales;
  std::vector<const void*> pointers;
  Matrix matrix;

  std::uint32_t at(int row, int i) const { return bits[static_cast<std::size_t>(row * k + i)]; }

  void lay_out(Rng& rng) {
    const int element = packed ? 4 : tc::element_bits(type);
    const bool by_k = matrix.major == Major::k;
    const int lines = by_k ? rows : k, length = by_k ? k : rows,
              stride = length * element / 8 + 8 * below(rng, 3);
    raw.assign(static_cast<std::size_t>(lines * stride), 0);
    for (int line = 0; line < lines; ++line) {
      std::uint8_t* to = &raw[static_cast<std::size_t>(line * stride)];
      pointers.push_back(to);
      for (int i = 0; i < length; ++i) {
        const std::uint32_t x = by_k ? at(line, i) : at(i, line);
        if (packed) {
          to[i / 2] = static_cast<std::uint8_t>(to[i / 2] | x << i % 2 * 4);
        } else {
          std::memcpy(to + i * element / 8, &x, static_cast<std::size_t>(element / 8));
        }
      }
    }
    if (below(rng, 2)) {
      matrix.rows = {.rows = pointers.data()};
    } else {
      matrix.rows = {raw.data(), stride};
    }
  }
};

std::uint8_t random_scale(Scale type, int kind, Rng& rng) {
  const auto any = static_cast<std::uint8_t>(rng());
  switch (kind) {
    case 0:  // ordinary
      return static_cast<std::uint8_t>(type == Scale::ue8m0 ? 123 + any % 9 : 0x30 + any % 16);
    case 1:  // wide, with a rare NaN
      return any;
    case 2:  // zeros and subnormals, or one half of the exponents
      return type == Scale::ue8m0 ? any % 128 : any % 9;
    case 3:  // ends
      return any % 32 ? (any & 1 ? 0 : 0xFE) : 0xFF;
    default:
      return type == Scale::ue8m0 ? 127 : 0x38;
  }
}

class Tcgen05Tiles : public testing::TestWithParam<Case> {
 protected:
  tc::Kind random_kind() { return tc::kinds[below(rng_, std::size(tc::kinds))]; }
  bool is_integer() const { return GetParam().kind == Kind::i8; }

  Operand random_operand(Element type, int rows, int k, tc::Kind kind) {
    const Case& c = GetParam();
    Operand o{.type = type, .rows = rows, .k = k, .packed = is_packed(c.kind), .matrix = {.type = type}};
    o.bits.resize(static_cast<std::size_t>(rows * k));
    const std::uint32_t junk = type >= Element::e2m3 && type <= Element::e2m1 && !o.packed ? 0xC0 : 0;
    for (int i = 0; i < rows * k; ++i) {
      o.bits[static_cast<std::size_t>(i)] = is_integer()
                                                ? static_cast<std::uint32_t>(rng_() & 0xFF)
                                                : random_bits(type, kind, i / k, i % k) | (rng_() & junk);
    }
    if (!o.packed && below(rng_, 2)) o.matrix.major = Major::mn;
    o.matrix.negate = !is_integer() && below(rng_, 4) == 0;
    const int scale_kind = below(rng_, 5);
    for (int i = 0; i < rows * c.scales; ++i) o.scales.push_back(random_scale(c.scale, scale_kind, rng_));
    return o;
  }

  // If lowered, all exponents below those of 1: what the largest product hides may be all that there is.
  std::uint32_t random_bits(Element type, tc::Kind kind, int row, int i) {
    const tc::Fields f = tc::fields_of(type);
    if (!lowered_) return tc::random_element(f, kind, row, i, rng_);
    return tc::make(f, rng_() & 1, below(rng_, 1 + f.bias * 3 / 4), static_cast<std::uint32_t>(rng_()));
  }

  // Two of each four, or one of two for tf32; unselected elements of A become zeros.
  void select(Operand& a) {
    const int words = (a.k + 63) / 64;
    selected_.assign(static_cast<std::size_t>(a.rows * words), 0);
    const int step = a.type == Element::tf32 ? 2 : 4;
    for (int m = 0; m < a.rows; ++m) {
      for (int i = 0; i < a.k; i += step) {
        const std::uint64_t pick = step == 2 ? 1u << below(rng_, 2) : "\x3\x5\x6\x9\xA\xC"[below(rng_, 6)];
        selected_[static_cast<std::size_t>(m * words + i / 64)] |= pick << i % 64;
      }
      for (int i = 0; i < a.k; ++i)
        if (!is_selected(m, i, words)) a.bits[static_cast<std::size_t>(m * a.k + i)] = 0;
    }
  }
  bool is_selected(int m, int i, int words) const {
    return (selected_[static_cast<std::size_t>(m * words + i / 64)] >> i % 64) & 1;
  }

  void set_scales(Operand& o) {
    o.matrix.scales = {GetParam().scale, GetParam().scales, {o.scales.data(), GetParam().scales}};
  }

  std::uint32_t random_c(tc::CKind kind) {
    if (is_integer()) return static_cast<std::uint32_t>(rng_() % 3 ? rng_() : 0x7FFFFFF0u + (rng_() & 0x1F));
    return tc::random_c(GetParam().d, kind, rng_);
  }

  void check_tile();
  std::uint32_t expected(const Operand& a, const Operand& b, int m, int n, std::uint32_t c,
                         const MultiplyOptions& o) const;
  std::vector<model::Value> values(const Operand& o, int row, const Operand& a, int m) const;

  Rng rng_{20261123};
  std::size_t outputs_ = 0;
  bool lowered_ = false;
  std::vector<std::uint64_t> selected_;  // empty if dense
  std::vector<std::vector<model::Value>> a_values_, b_values_;
  std::unique_ptr<AOperand> a_ = std::make_unique<AOperand>();
  std::unique_ptr<BOperand> b_ = std::make_unique<BOperand>();
};

std::vector<std::vector<model::Value>> values_of(const Operand& o) {
  std::vector<std::vector<model::Value>> out(static_cast<std::size_t>(o.rows));
  for (int row = 0; row < o.rows; ++row) {
    for (int i = 0; i < o.k; ++i) {
      model::Value v = model::element(o.type, o.at(row, i));
      if (o.matrix.negate) v.value = -v.value;
      out[static_cast<std::size_t>(row)].push_back(v);
    }
  }
  return out;
}

std::vector<model::ScaleFactor> scale_factors(const Operand& o, int row, const Case& c) {
  std::vector<model::ScaleFactor> out;
  for (int i = 0; i < c.scales; ++i)
    out.push_back(model::scale_factor(c.scale, o.scales[static_cast<std::size_t>(row * c.scales + i)]));
  return out;
}

std::uint32_t Tcgen05Tiles::expected(const Operand& a, const Operand& b, int m, int n, std::uint32_t c,
                                     const MultiplyOptions& o) const {
  const Case& t = GetParam();
  if (is_integer()) {
    std::int64_t sum = 0;
    for (int i = 0; i < a.k; ++i)
      sum += tc::integer_value(t.a, a.at(m, i)) * tc::integer_value(t.b, b.at(n, i));
    return static_cast<std::uint32_t>(tc::add_integer_sum(sum, static_cast<std::int32_t>(c), o.saturate));
  }
  std::vector<model::Value> x = a_values_[static_cast<std::size_t>(m)],
                            y = b_values_[static_cast<std::size_t>(n)];
  const model::Value of_c = model::accumulator(t.d, c, o.scale_input_d);
  if (is_packed(t.kind)) return model::grouped(x, y, of_c, scale_factors(a, m, t), scale_factors(b, n, t));
  std::size_t count = 0;
  for (int i = 0; i < a.k; ++i) {
    if (!selected_.empty() && !is_selected(m, i, 1)) continue;
    x[count] = x[static_cast<std::size_t>(i)];
    y[count++] = y[static_cast<std::size_t>(i)];
  }
  int scale = 0;
  for (const auto& factors : {scale_factors(a, m, t), scale_factors(b, n, t)}) {
    if (factors.empty()) continue;
    if (std::isnan(factors[0].significand)) return 0x7FFFFFFF;
    scale += factors[0].exponent;
  }
  return model::fused({x.data(), count}, {y.data(), count}, of_c, scale, t.d);
}

void Tcgen05Tiles::check_tile() {
  const Case& t = GetParam();
  const bool sparse = below(rng_, 4) == 0;
  const int m = 32 << below(rng_, 3), n = below(rng_, 3) ? 8 + 8 * below(rng_, 5) : 8 * (1 + below(rng_, 32));
  const int k = k_of(t.kind, sparse), stride = n + 5;
  lowered_ = below(rng_, 16) == 0;
  const tc::Kind kind = random_kind();
  Operand a = random_operand(t.a, m, k, kind);
  Operand b = random_operand(t.b, n, k, below(rng_, 3) ? random_kind() : kind);
  selected_.clear();
  if (sparse) select(a);
  for (Operand* o : {&a, &b}) o->lay_out(rng_), set_scales(*o);
  MultiplyOptions options{.zero_c = below(rng_, 8) == 0, .saturate = below(rng_, 2) == 0};
  if (t.kind <= Kind::tf32 && below(rng_, 3) == 0) options.scale_input_d = below(rng_, 16);
  const tc::CKind c_kind = tc::c_kinds[below(rng_, std::size(tc::c_kinds))];
  std::vector<std::uint32_t> c(static_cast<std::size_t>(m * stride));
  for (auto& x : c) x = random_c(c_kind);
  decode_a(*a_, t.kind, m, a.matrix, sparse ? selected_.data() : nullptr);
  decode_b(*b_, t.kind, n, b.matrix, sparse);
  a_values_ = values_of(a), b_values_ = values_of(b);
  std::vector<std::uint32_t> right = c;
  for (int i = 0; i < m * n; ++i) {
    std::uint32_t& x = right[static_cast<std::size_t>(i / n * stride + i % n)];
    x = expected(a, b, i / n, i % n, options.zero_c ? 0 : x, options);
  }
  for (const SimdLevel level : {SimdLevel::avx2, tc::best_simd_level()}) {
    options.level = level;
    std::vector<std::uint32_t> d = c;
    multiply(*a_, *b_, t.d, d.data(), stride, options);
    for (std::size_t i = 0; i < d.size(); ++i) {
      ASSERT_EQ(d[i], right[i]) << std::hex << "c " << c[i] << std::dec << " at "
                                << i / static_cast<unsigned>(stride) << ","
                                << i % static_cast<unsigned>(stride) << " of m " << m << " n " << n
                                << " sparse " << sparse << " zero_c " << options.zero_c << " scale_input_d "
                                << options.scale_input_d << " level " << static_cast<int>(level);
    }
  }
  outputs_ += static_cast<std::size_t>(m * n);
}

TEST_P(Tcgen05Tiles, EqualTheModelOnEveryMixOfDistributions) {
  const std::size_t wanted = outputs_of_a_case();
  while (outputs_ < wanted && !HasFatalFailure()) check_tile();
}

constexpr Element byte_floats[] = {Element::e4m3, Element::e5m2, Element::e2m3, Element::e3m2, Element::e2m1};

std::vector<Case> all_cases() {
  std::vector<Case> out = {{Kind::f16, Element::f16, Element::f16, Result::f32},
                           {Kind::f16, Element::bf16, Element::bf16, Result::f32},
                           {Kind::f16, Element::f16, Element::f16, Result::f16},
                           {Kind::tf32, Element::tf32, Element::tf32, Result::f32}};
  for (const Element a : byte_floats) {
    for (const Element b : byte_floats) {
      out.push_back({Kind::f8f6f4, a, b, Result::f32});
      out.push_back({Kind::f8f6f4, a, b, Result::f16});
      out.push_back({Kind::mxf8f6f4, a, b, Result::f32, 1});
    }
  }
  for (const Element a : {Element::s8, Element::u8})
    for (const Element b : {Element::s8, Element::u8}) out.push_back({Kind::i8, a, b, Result::s32});
  constexpr Element e2m1 = Element::e2m1;
  out.push_back({Kind::mxf4, e2m1, e2m1, Result::f32, 2});
  out.push_back({Kind::mxf4nvf4, e2m1, e2m1, Result::f32, 2});
  out.push_back({Kind::mxf4nvf4, e2m1, e2m1, Result::f32, 4});
  out.push_back({Kind::mxf4nvf4, e2m1, e2m1, Result::f32, 4, Scale::ue4m3});
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, Tcgen05Tiles, testing::ValuesIn(all_cases()),
                         palladion::test::printed_name<Case>);

}  // namespace
}  // namespace palladion::sim::numerics::tcgen05
