#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "sim/numerics/tcgen05.h"
#include "sim/numerics/tensor_core_kernels.h"

namespace palladion::sim::numerics::tcgen05 {
namespace {

constexpr int part_rows = tc::max_m;
constexpr std::uint32_t nan_bits = 0x7FFFFFFFu;

// Rows from `first` on, of a matrix whose rows are those of m.
Rows rows_from(const Rows& rows, int first) {
  if (rows.rows) return {.rows = rows.rows + first};
  return {static_cast<const std::uint8_t*>(rows.base) + first * rows.stride, rows.stride};
}

// The rows of one k each, from element `first` of m on; `pointers` holds max_k of them.
Rows elements_from(const Rows& rows, int k, int offset, const void** pointers) {
  for (int i = 0; i < k; ++i) pointers[i] = rows[i] + offset;
  return {.rows = pointers};
}

// A scale byte: significand in eighths, exponent; significand 0 is a zero, negative a NaN.
struct ScaleValue {
  int significand;
  int exponent;
};
ScaleValue scale_value(Scale type, std::uint8_t byte) {
  if (type == Scale::ue8m0) return {byte == 0xFF ? -1 : 8, byte - 127};
  const int field = (byte >> 3) & 15, fraction = byte & 7;
  if (field == 15 && fraction == 7) return {-1, 0};
  return field ? ScaleValue{8 + fraction, field - 7} : ScaleValue{fraction, -6};
}

void decode_scales(AOperand& out, const Matrix& a) {
  for (int m = 0; m < out.m; ++m) {
    const ScaleValue s = scale_value(a.scales.type, *a.scales.rows[m]);
    out.scale[m] = s.exponent;
    if (s.significand > 0) continue;
    tc::AOperand& part = out.part[m / part_rows];
    std::fill_n(part.word + m % part_rows * out.k, out.k, nan_bits);
    part.special_rows |= std::uint64_t{1} << m % part_rows;
  }
}

void decode_scales(BOperand& out, const Matrix& b) {
  tc::BOperand& whole = out.whole;
  for (int n = 0; n < out.n; ++n) {
    const ScaleValue s = scale_value(b.scales.type, *b.scales.rows[n]);
    out.scale[n] = s.exponent;
    if (s.significand > 0) continue;
    std::uint32_t* word = whole.word + n / tc::block_n * out.k * tc::block_n + n % tc::block_n;
    for (int k = 0; k < out.k; ++k) word[k * tc::block_n] = nan_bits;
    whole.special_columns[n / tc::block_n] |= std::uint64_t{1} << n % tc::block_n;
  }
}

// Twice the value of an e2m1.
constexpr std::int8_t doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// One row of a packed matrix, k elements.
struct PackedRow {
  std::int8_t value[4 * max_packed_words];

  PackedRow(const std::uint8_t* raw, int k, bool negate) {
    const int flip = negate ? 8 : 0;
    for (int i = 0; i < k; i += 2) {
      value[i] = doubled[(raw[i / 2] & 15) ^ flip];
      value[i + 1] = doubled[(raw[i / 2] >> 4) ^ flip];
    }
  }
  std::uint32_t nonzero(int first, int count) const {
    std::uint32_t mask = 0;
    for (int i = 0; i < count; ++i) mask |= static_cast<std::uint32_t>(value[first + i] != 0) << i;
    return mask;
  }
  int sum(int first, int count) const {
    int s = 0;
    for (int i = 0; i < count; ++i) s += value[first + i];
    return s;
  }
  std::uint32_t word(int w, int offset) const {
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i)
      bits |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(value[4 * w + i] + offset)) << 8 * i;
    return bits;
  }
};

std::uint32_t significand_bits(const ScaleValue& s) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(s.significand));
}

void decode_packed(AOperand& out, const Matrix& a) {
  PackedA& p = out.packed;
  const int length = out.k / groups;
  std::memset(p.nan_rows, 0, sizeof p.nan_rows);
  for (int m = 0; m < out.m; ++m) {
    const PackedRow row(a.rows[m], out.k, a.negate);
    for (int w = 0; w < out.k / 4; ++w) p.word[m][w] = row.word(w, packed_offset);
    for (int g = 0; g < groups; ++g) {
      const ScaleValue s = scale_value(a.scales.type, a.scales.rows[m][g * a.scales.count / groups]);
      if (s.significand < 0) p.nan_rows[m / 64] |= std::uint64_t{1} << m % 64;
      p.group.nonzero[m][g] = s.significand ? row.nonzero(g * length, length) : 0;
      p.group.exponent[m][g] = static_cast<std::uint32_t>(s.exponent + 127);
      p.group.significand[m][g] = significand_bits(s);
    }
  }
}

void decode_column(PackedB& p, int n, const PackedRow& row, int k) {
  const int length = k / groups;
  for (int w = 0; w < k / 4; ++w) p.word[w][n] = row.word(w, 0);
  for (int g = 0; g < groups; ++g) {
    p.group.nonzero[g][n] = row.nonzero(g * length, length);
    p.offset[g][n] = static_cast<std::uint16_t>(-packed_offset * row.sum(g * length, length));
  }
}

void decode_column_scales(PackedB& p, int n, const Scales& scales) {
  for (int g = 0; g < groups; ++g) {
    const ScaleValue s = scale_value(scales.type, scales.rows[n][g * scales.count / groups]);
    if (s.significand < 0) p.nan_columns[n / 64] |= std::uint64_t{1} << n % 64;
    if (s.significand == 0) p.group.nonzero[g][n] = 0;
    p.group.exponent[g][n] = static_cast<std::uint32_t>(s.exponent);
    p.group.significand[g][n] = significand_bits(s);
  }
}

void decode_packed(BOperand& out, const Matrix& b) {
  PackedB& p = out.packed;
  std::memset(p.nan_columns, 0, sizeof p.nan_columns);
  for (int n = 0; n < out.n; ++n) {
    decode_column(p, n, PackedRow(b.rows[n], out.k, b.negate), out.k);
    decode_column_scales(p, n, b.scales);
  }
  const std::uint8_t zeros[2 * max_packed_words] = {};
  for (int n = out.n; n % 16; ++n) {  // a wide vector reads as far
    decode_column(p, n, PackedRow(zeros, out.k, false), out.k);
    for (int g = 0; g < groups; ++g) p.group.exponent[g][n] = p.group.significand[g][n] = 0;
  }
}

}  // namespace

void decode_a(AOperand& out, Kind kind, int m, const Matrix& a, const std::uint64_t* selected) {
  assert(m == 32 || m == 64 || m == 128);
  assert(!is_block_scaled(kind) || accepts_scales(kind, a.scales.type, a.scales.count));
  out.kind = kind;
  out.type = a.type;
  out.scale_type = a.scales.type;
  out.m = m;
  out.k = k_of(kind, selected != nullptr);
  if (is_packed(kind)) {
    assert(a.major == Major::k);
    return decode_packed(out, a);
  }
  for (int first = 0; first < m; first += part_rows) {
    const void* pointers[tc::max_k];
    const Rows rows = a.major == Major::k
                          ? rows_from(a.rows, first)
                          : elements_from(a.rows, out.k, first * tc::element_bits(a.type) / 8, pointers);
    tc::AOperand& part = out.part[first / part_rows];
    tc::decode_a(part, a.type, std::min(m, part_rows), out.k, rows, a.major, a.negate);
    if (selected && kind != Kind::i8) tc::select_sparse(part, selected + first);
  }
  if (is_block_scaled(kind)) decode_scales(out, a);
}

void decode_b(BOperand& out, Kind kind, int n, const Matrix& b, bool sparse) {
  assert(n >= 8 && n <= max_n && n % 8 == 0);
  assert(!is_block_scaled(kind) || accepts_scales(kind, b.scales.type, b.scales.count));
  out.kind = kind;
  out.type = b.type;
  out.scale_type = b.scales.type;
  out.n = n;
  out.k = k_of(kind, sparse);
  if (is_packed(kind)) {
    assert(b.major == Major::k);
    return decode_packed(out, b);
  }
  tc::decode_b(out.whole, b.type, n, out.k, b.rows, b.major, b.negate, tc::Generation::blackwell);
  if (is_block_scaled(kind)) decode_scales(out, b);
}

}  // namespace palladion::sim::numerics::tcgen05
