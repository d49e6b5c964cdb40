#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "sim/numerics/tcgen05.h"
#include "sim/numerics/tensor_core_kernels.h"
#include "sim/numerics/tensor_core_transpose.h"

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

// A scale byte: significand in eighths as f32, negative if it is a NaN; exponent.
struct ScaleValue {
  float significand;
  int exponent;
};
constexpr ScaleValue scale_value(Scale type, int byte) {
  if (type == Scale::ue8m0) return {byte == 0xFF ? -1.0f : 8.0f, byte - 127};
  const int field = (byte >> 3) & 15, fraction = byte & 7;
  if (field == 15 && fraction == 7) return {-1, 0};
  const int significand = field ? 8 + fraction : fraction;
  return {static_cast<float>(significand), field ? field - 7 : -6};
}

using ScaleTable = std::array<ScaleValue, 256>;
constexpr ScaleTable table_of(Scale type) {
  ScaleTable t{};
  for (int byte = 0; byte < 256; ++byte) t[static_cast<std::size_t>(byte)] = scale_value(type, byte);
  return t;
}
const ScaleTable& scale_table(Scale type) {
  static constexpr ScaleTable tables[] = {table_of(Scale::ue8m0), table_of(Scale::ue4m3)};
  return tables[static_cast<int>(type)];
}

void decode_scales(AOperand& out, const Matrix& a) {
  const ScaleTable& table = scale_table(a.scales.type);
  for (int m = 0; m < out.m; ++m) {
    const ScaleValue s = table[*a.scales.rows[m]];
    out.scale[m] = s.exponent;
    if (s.significand > 0) continue;
    tc::AOperand& part = out.part[m / part_rows];
    std::fill_n(part.word + m % part_rows * out.k, out.k, nan_bits);
    part.special_rows |= std::uint64_t{1} << m % part_rows;
  }
}

void decode_scales(BOperand& out, const Matrix& b) {
  const ScaleTable& table = scale_table(b.scales.type);
  tc::BOperand& whole = out.whole;
  for (int n = 0; n < out.n; ++n) {
    const ScaleValue s = table[*b.scales.rows[n]];
    out.scale[n] = s.exponent;
    if (s.significand > 0) continue;
    std::uint32_t* word = whole.word + n / tc::block_n * out.k * tc::block_n + n % tc::block_n;
    for (int k = 0; k < out.k; ++k) word[k * tc::block_n] = nan_bits;
    whole.special_columns[n / tc::block_n] |= std::uint64_t{1} << n % tc::block_n;
  }
}

// One row of a packed matrix, unpacked.
struct PackedRow {
  std::uint64_t nonzero[2] = {};  // bit k
  int sum[groups] = {};

  // Twice each e2m1, plus `offset`, to k bytes.
  PackedRow(const std::uint8_t* raw, int k, bool negate, int offset, std::uint8_t* to) {
    const __m128i half = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
    const __m128i doubled = negate ? _mm_sub_epi8(_mm_setzero_si128(), half) : half;
    const __m256i table = _mm256_broadcastsi128_si256(doubled), nibble = _mm256_set1_epi8(15);
    for (int i = 0; i < k; i += 64) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(raw + i / 2));
      const __m256i even = _mm256_shuffle_epi8(table, _mm256_and_si256(x, nibble));
      const __m256i odd = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble));
      const __m256i low = _mm256_unpacklo_epi8(even, odd), high = _mm256_unpackhi_epi8(even, odd);
      add(_mm256_permute2x128_si256(low, high, 0x20), i, k, offset, to);
      add(_mm256_permute2x128_si256(low, high, 0x31), i + 32, k, offset, to);
    }
  }

  std::uint32_t nonzero_of(int g, int length) const {
    const std::uint64_t bits = nonzero[g * length / 64] >> g * length % 64;
    return static_cast<std::uint32_t>(length == 32 ? bits & 0xFFFFFFFFu : bits & 0xFFFFu);
  }

 private:
  void add(__m256i values, int first, int k, int offset, std::uint8_t* to) {
    const auto zero =
        static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(values, _mm256_setzero_si256())));
    nonzero[first / 64] |= std::uint64_t{~zero} << first % 64;
    const __m256i raised = _mm256_add_epi8(values, _mm256_set1_epi8(packed_offset));
    const __m256i eights = _mm256_sad_epu8(raised, _mm256_setzero_si256());
    const __m128i low = _mm256_castsi256_si128(eights), high = _mm256_extracti128_si256(eights, 1);
    for (int half = 0; half < 2; ++half) {
      const __m128i pair = half ? high : low;
      sum[(first + 16 * half) * groups / k] +=
          _mm_extract_epi16(pair, 0) + _mm_extract_epi16(pair, 4) - 16 * packed_offset;
    }
    const __m256i shifted = _mm256_add_epi8(values, _mm256_set1_epi8(static_cast<char>(offset)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + first), shifted);
  }
};

void decode_packed(AOperand& out, const Matrix& a) {
  PackedA& p = out.packed;
  const ScaleTable& table = scale_table(a.scales.type);
  const int length = out.k / groups;
  std::memset(p.nan_rows, 0, sizeof p.nan_rows);
  for (int m = 0; m < out.m; ++m) {
    const PackedRow row(a.rows[m], out.k, a.negate, packed_offset,
                        reinterpret_cast<std::uint8_t*>(p.word[m]));
    const std::uint8_t* scales = a.scales.rows[m];
    for (int g = 0; g < groups; ++g) {
      const ScaleValue s = table[scales[g * a.scales.count / groups]];
      if (s.significand < 0) p.nan_rows[m / 64] |= std::uint64_t{1} << m % 64;
      p.group.nonzero[m][g] = s.significand != 0 ? row.nonzero_of(g, length) : 0;
      p.group.exponent[m][g] = static_cast<std::uint32_t>(s.exponent + 127);
      p.group.significand[m][g] = std::bit_cast<std::uint32_t>(s.significand);
    }
  }
}

// Eight columns of B. raw and scales: one pointer for each.
struct EightColumns {
  const std::uint8_t* raw[8];
  const std::uint8_t* scales[8];
};

void decode_columns(BOperand& out, int first, const EightColumns& from, const Matrix& b) {
  PackedB& p = out.packed;
  const ScaleTable& table = scale_table(b.scales.type);
  const int length = out.k / groups;
  alignas(32) std::uint8_t bytes[8 * 4 * max_packed_words];
  for (int i = 0; i < 8; ++i) {
    const PackedRow row(from.raw[i], out.k, b.negate, 0, bytes + i * out.k);
    const int n = first + i;
    for (int g = 0; g < groups; ++g) {
      const ScaleValue s = table[from.scales[i][g * b.scales.count / groups]];
      if (s.significand < 0) p.nan_columns[n / 64] |= std::uint64_t{1} << n % 64;
      p.group.nonzero[g][n] = s.significand != 0 ? row.nonzero_of(g, length) : 0;
      p.group.exponent[g][n] = static_cast<std::uint32_t>(s.exponent);
      p.group.significand[g][n] = std::bit_cast<std::uint32_t>(s.significand);
      p.offset[g][n] = static_cast<std::uint16_t>(-packed_offset * row.sum[g]);
    }
  }
  tc::transpose<4>({bytes, out.k}, 8, out.k, reinterpret_cast<std::uint8_t*>(&p.word[0][first]),
                   sizeof p.word[0]);
}

void decode_packed(BOperand& out, const Matrix& b) {
  static constexpr std::uint8_t zeros[2 * max_packed_words] = {};
  std::memset(out.packed.nan_columns, 0, sizeof out.packed.nan_columns);
  for (int first = 0; first < out.n || first % 16; first += 8) {  // a wide vector reads as far
    EightColumns columns;
    for (int i = 0; i < 8; ++i) {
      columns.raw[i] = first < out.n ? b.rows[first + i] : zeros;
      columns.scales[i] = first < out.n ? b.scales.rows[first + i] : zeros;
    }
    decode_columns(out, first, columns, b);
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
