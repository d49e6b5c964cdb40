#include "sim/numerics/tcgen05.h"

#include <bit>
#include <cassert>
#include <span>

#include "sim/numerics/tcgen05_reference.h"
#include "sim/numerics/tensor_core_kernels.h"

namespace palladion::sim::numerics::tcgen05 {
namespace {

struct Output {
  std::uint32_t* d;
  Result type;
  const MultiplyOptions* options;

  std::uint32_t c() const { return options->zero_c ? 0 : *d; }
  tc::Unpacked unpacked_c() const {
    tc::Unpacked c = tc::unpack_c(type, type == Result::f16 ? this->c() & 0xFFFF : this->c());
    if (c.kind == tc::Unpacked::Class::finite) c.exponent -= options->scale_input_d;
    return c;
  }
};

std::uint32_t float_output(const AOperand& a, const BOperand& b, int m, int n, const Output& out) {
  tc::Unpacked x[tc::max_k], y[tc::max_k];
  const tc::AOperand& part = a.part[m / tc::max_m];
  const int row = m % tc::max_m;
  std::size_t count = 0;
  for (int k = 0; k < a.k; ++k) {
    if (part.sparse && !((part.selected[row] >> k) & 1)) continue;
    const std::ptrdiff_t at = (std::ptrdiff_t{n / tc::block_n} * b.k + k) * tc::block_n + n % tc::block_n;
    x[count] = tc::unpack_value(part.word[row * a.k + k], tc::min_exponent(a.type));
    y[count++] = tc::unpack_value(b.whole.word[at], tc::min_exponent(b.type));
  }
  const int scale = is_block_scaled(a.kind) ? a.scale[m] + b.scale[n] : 0;
  return tc::fused_dot_add({x, count}, {y, count}, out.unpacked_c(), spec_of(a.type, out.type), scale);
}

bool has(const std::uint64_t* mask, int bit) { return (mask[bit / 64] >> bit % 64) & 1; }

std::uint32_t packed_output(const AOperand& a, const BOperand& b, int m, int n, const Output& out) {
  const PackedA& x = a.packed;
  const PackedB& y = b.packed;
  if (has(x.nan_rows, m) || has(y.nan_columns, n)) return 0x7FFFFFFFu;
  GroupTerm terms[groups];
  const int words = a.k / 4 / groups;
  for (int g = 0; g < groups; ++g) {
    terms[g].sum = y.offset[g][n];
    for (int w = g * words; w < (g + 1) * words; ++w) {
      for (int i = 0; i < 32; i += 8)
        terms[g].sum +=
            static_cast<std::uint8_t>(x.word[m][w] >> i) * static_cast<std::int8_t>(y.word[w][n] >> i);
    }
    terms[g].significand = x.group.significand[m][g] * y.group.significand[g][n];
    terms[g].exponent = x.group.exponent[m][g] + y.group.exponent[g][n];
    terms[g].any_product = x.group.nonzero[m][g] & y.group.nonzero[g][n];
  }
  return grouped_add(terms, out.unpacked_c());
}

void multiply_integers(const AOperand& a, const BOperand& b, std::uint32_t* d, std::ptrdiff_t stride,
                       const MultiplyOptions& o) {
  const tc::MultiplyOptions options{.zero_c = o.zero_c, .saturate = o.saturate, .level = o.level};
  for (int first = 0; first < a.m; first += tc::max_m)
    tc::multiply(a.part[first / tc::max_m], b.whole, reinterpret_cast<std::int32_t*>(d + first * stride),
                 stride, options);
}

}  // namespace

bool accepts(Kind kind, Element a, Element b, Result d) {
  switch (kind) {
    case Kind::f16:
      return a == b && ((a == Element::f16 && (d == Result::f32 || d == Result::f16)) ||
                        (a == Element::bf16 && d == Result::f32));
    case Kind::tf32:
      return a == Element::tf32 && b == a && d == Result::f32;
    case Kind::f8f6f4:
      return tc::is_byte_float(a) && tc::is_byte_float(b) && (d == Result::f32 || d == Result::f16);
    case Kind::i8:
      return (a == Element::s8 || a == Element::u8) && (b == Element::s8 || b == Element::u8) &&
             d == Result::s32;
    case Kind::mxf8f6f4:
      return tc::is_byte_float(a) && tc::is_byte_float(b) && d == Result::f32;
    case Kind::mxf4:
    case Kind::mxf4nvf4:
      return a == Element::e2m1 && b == a && d == Result::f32;
  }
  return false;
}

bool accepts_scales(Kind kind, Scale type, int count) {
  switch (kind) {
    case Kind::mxf8f6f4:
      return type == Scale::ue8m0 && count == 1;
    case Kind::mxf4:
      return type == Scale::ue8m0 && count == 2;
    case Kind::mxf4nvf4:
      return count == 4 || (count == 2 && type == Scale::ue8m0);
    default:
      return false;
  }
}

void multiply(const AOperand& a, const BOperand& b, Result type, std::uint32_t* d, std::ptrdiff_t stride,
              const MultiplyOptions& o) {
  assert(a.kind == b.kind && a.k == b.k && accepts(a.kind, a.type, b.type, type));
  assert(!o.scale_input_d || a.kind == Kind::f16 || a.kind == Kind::tf32);
  if (a.kind == Kind::i8) return multiply_integers(a, b, d, stride, o);
  const auto output = is_packed(a.kind) ? packed_output : float_output;
  for (int m = 0; m < a.m; ++m) {
    for (int n = 0; n < b.n; ++n) {
      std::uint32_t* to = d + m * stride + n;
      *to = output(a, b, m, n, {to, type, &o});
    }
  }
}

}  // namespace palladion::sim::numerics::tcgen05
