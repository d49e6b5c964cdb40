#include <immintrin.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <type_traits>

#include "sim/numerics/tensor_core.h"
#include "sim/numerics/tensor_core_elements.h"
#include "sim/numerics/tensor_core_specials.h"
#include "sim/numerics/tensor_core_transpose.h"

namespace palladion::sim::numerics::tc {
namespace {

constexpr int chunk = 32;  // columns of B that are decoded together

template <Element type, class Operand>
void settle_range(Operand& out, const Scan<type>& scan) {
  if (scan.any_special()) {
    find_specials(out);
    if (has_fixed_range<type>) out.range = fixed_range<type>();
  } else {
    out.range = scan.range();
  }
}

// Bytes in the low ends of eight words, each repeated four times.
__m256i spread(__m256i words) {
  return _mm256_shuffle_epi8(words, _mm256_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12,  //
                                                     0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
}

// One vector of relative exponents, in lanes of `bits`, as words of four equal bytes.
template <int bits>
void store_spread(__m256i exponents, std::uint32_t* to) {
  const __m128i half[2] = {_mm256_castsi256_si128(exponents), _mm256_extracti128_si256(exponents, 1)};
  if constexpr (bits == 32) {
    store_words(to, spread(exponents));
  } else if constexpr (bits == 16) {
    for (int i = 0; i < 2; ++i) store_words(to + 8 * i, spread(_mm256_cvtepu16_epi32(half[i])));
  } else {
    for (int i = 0; i < 2; ++i) {
      store_words(to + 16 * i, spread(_mm256_cvtepu8_epi32(half[i])));
      store_words(to + 16 * i + 8, spread(_mm256_cvtepu8_epi32(_mm_srli_si128(half[i], 8))));
    }
  }
}

// Rows are those of one m.
template <Element type>
void decode_a_floats(AOperand& a, const Rows& rows, __m256i sign) {
  constexpr int step = elements_per_vector<type>;
  Scan<type> scan;
  for (int m = 0; m < a.m; ++m) {
    const std::uint8_t* from = rows[m];
    for (int k = 0; k < a.k; k += step, from += 32) {
      scan.add(load_raw(from));
      store_values<type>(from, PlainSink{a.word + m * a.k, sign}, k);
    }
  }
  settle_range(a, scan);
  const RelativeExponents<type> relative(a.range);
  for (int m = 0; m < a.m; ++m) {
    const std::uint8_t* from = rows[m];
    for (int k = 0; k < a.k; k += step, from += 32) {
      store_spread<FloatFormat<type>::bits>(relative(load_raw(from)), a.exponent + m * a.k + k);
    }
  }
}

// 32 elements of a row, padded with zeros if the row ends before.
template <Element type>
class PaddedChunk {
  static constexpr int bytes = FloatFormat<type>::bits / 8;

 public:
  PaddedChunk(const std::uint8_t* row, int column, int n) : from_(row + column * bytes) {
    if (n - column >= chunk) return;
    std::memcpy(padded_, from_, static_cast<std::size_t>(n - column) * bytes);
    std::memset(padded_ + (n - column) * bytes, 0, static_cast<std::size_t>(chunk - n + column) * bytes);
    from_ = padded_;
  }
  const std::uint8_t* vector(int i) const { return from_ + 32 * i; }

 private:
  const std::uint8_t* from_;
  std::uint8_t padded_[chunk * bytes];
};

// Exponents of 32 elements as bytes.
template <Element type>
__m256i exponent_bytes(const RelativeExponents<type>& relative, const PaddedChunk<type>& c) {
  if constexpr (FloatFormat<type>::bits == 8) {
    return relative(load_raw(c.vector(0)));
  } else if constexpr (FloatFormat<type>::bits == 16) {
    const __m256i packed =
        _mm256_packs_epi16(relative(load_raw(c.vector(0))), relative(load_raw(c.vector(1))));
    return _mm256_permute4x64_epi64(packed, 0xD8);
  } else {
    const __m256i low = _mm256_packs_epi32(relative(load_raw(c.vector(0))), relative(load_raw(c.vector(1))));
    const __m256i high = _mm256_packs_epi32(relative(load_raw(c.vector(2))), relative(load_raw(c.vector(3))));
    return _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high),
                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }
}

// Where the 32 columns from `column` of one k lie in a decoded B with `stride` places for a k.
std::ptrdiff_t place(const BOperand& b, int column, int k, int stride) {
  return (std::ptrdiff_t{column / block_n} * b.k + k) * stride + column % block_n;
}

template <Element type>
void store_chunk_exponents(BOperand& b, const RelativeExponents<type>& relative, const PaddedChunk<type>& c,
                           int column, int k) {
  std::int8_t* to = b.exponent + place(b, column, k, block_n);
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), exponent_bytes(relative, c));
  // Beyond the last column: any exponent that no range check rejects.
  for (int i = b.n - column; i < chunk; ++i) to[i] = 0;
}

// Rows are those of one k.
template <Element type, bool split>
void decode_b_floats(BOperand& b, const Rows& rows, __m256i sign) {
  using Sink = std::conditional_t<split, SplitSink, PlainSink>;
  constexpr int step = elements_per_vector<type>;
  Scan<type> scan;
  const RelativeExponents<type> fixed(fixed_range<type>());
  for (int k = 0; k < b.k; ++k) {
    const std::uint8_t* row = rows[k];
    for (int column = 0; column < b.n; column += chunk) {
      const PaddedChunk<type> c(row, column, b.n);
      const Sink sink{b.word + place(b, column, k, words_of_k(split)), sign};
      for (int i = 0; i < chunk / step; ++i) {
        scan.add(load_raw(c.vector(i)));
        store_values<type>(c.vector(i), sink, i * step);
      }
      if constexpr (has_fixed_range<type>) store_chunk_exponents(b, fixed, c, column, k);
    }
  }
  settle_range(b, scan);
  if constexpr (has_fixed_range<type>) return;
  const RelativeExponents<type> relative(b.range);
  for (int k = 0; k < b.k; ++k) {
    const std::uint8_t* row = rows[k];
    for (int column = 0; column < b.n; column += chunk) {
      store_chunk_exponents(b, relative, PaddedChunk<type>(row, column, b.n), column, k);
    }
  }
}

// Eight or sixteen columns (as in mma.sync) as one stream of elements, [k][n]: padding each k to 32 would
// cost more.
template <Element type, bool split>
void decode_few_columns(BOperand& b, const std::uint8_t* raw, __m256i sign) {
  constexpr int step = elements_per_vector<type>;
  const int count = b.k * b.n;
  alignas(64) std::uint32_t value[max_k * 16];
  alignas(64) std::int8_t exponent[max_k * 16];
  Scan<type> scan;
  for (int i = 0; i < count; i += step) {
    scan.add(load_raw(raw + i / step * 32));
    store_values<type>(raw + i / step * 32, PlainSink{value, sign}, i);
  }
  const std::uint32_t* from = value;
  for (int k = 0; k < b.k; ++k) {
    std::uint32_t* to = b.word + k * words_of_k(split);
    for (int column = 0; column < b.n; column += 8, from += 8) {
      const __m256i bits = _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
      if constexpr (split) {
        SplitSink{to, _mm256_setzero_si256()}(column, bits);
      } else {
        store_words(to + column, bits);
      }
    }
    if (b.n == 16) continue;
    store_words(to + 8, _mm256_setzero_si256());  // a wide vector reads as far
    if (split) store_words(to + block_n + 8, _mm256_setzero_si256());
  }
  settle_range(b, scan);
  const RelativeExponents<type> relative(b.range);
  for (int i = 0; i < count; i += chunk) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(exponent + i),
                       exponent_bytes(relative, PaddedChunk<type>(raw, i, count)));
  }
  for (int k = 0; k < b.k; ++k) {
    std::memcpy(b.exponent + k * block_n, exponent + k * b.n, 8);
    if (b.n == 8) {
      std::memset(b.exponent + k * block_n + 8, 0, 8);
    } else {
      std::memcpy(b.exponent + k * block_n + 8, exponent + k * b.n + 8, 8);
    }
  }
}

// Sixteen bytes become eight words of two int16.
template <Element type>
void store_pairs(const std::uint8_t* from, std::uint32_t* to) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  store_words(to, type == Element::s8 ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes));
}

template <Element type>
void decode_a_integers(AOperand& a, Rows rows, Major major) {
  alignas(32) std::uint8_t raw[max_m * max_k];
  if (major == Major::mn) {
    transpose<1>(rows, a.k, a.m, raw, a.k);
    rows = {raw, a.k};
  }
  for (int m = 0; m < a.m; ++m) {
    for (int k = 0; k < a.k; k += 16) store_pairs<type>(rows[m] + k, a.word + (m * a.k + k) / 2);
  }
}

// `raw`: [words of k][n], each `bytes` wide; `store` writes eight columns.
template <class Store>
void spread_over_blocks(BOperand& b, int words, const std::uint8_t* raw, int bytes, Store store) {
  for (int column = 0; column < b.n; column += 8) {
    std::uint32_t* to = b.word + std::ptrdiff_t{column / block_n} * words * block_n + column % block_n;
    for (int w = 0; w < words; ++w) store(raw + (w * b.n + column) * bytes, to + w * block_n);
  }
}

constexpr int raw_bytes = max_n * max_k * 2;  // the most that one operand of any type holds

// Two rows of k as pairs of bytes.
void pair_rows(const std::uint8_t* first, const std::uint8_t* second, int n, std::uint8_t* to) {
  for (int i = 0; i < n; i += 8) {
    const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(first + i));
    const __m128i y = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(second + i));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * i), _mm_unpacklo_epi8(x, y));
  }
}

template <Element type>
void decode_b_integers(BOperand& b, const Rows& rows, Major major) {
  alignas(32) std::uint8_t raw[raw_bytes];
  if (major == Major::k) {
    transpose<2>(rows, b.n, b.k, raw, b.n * 2);
  } else {
    for (int k = 0; k < b.k; k += 2) pair_rows(rows[k], rows[k + 1], b.n, raw + k * b.n);
  }
  spread_over_blocks(b, b.k / 2, raw, 2, store_pairs<type>);
}

void decode_b_bits(BOperand& b, const Rows& rows) {
  alignas(32) std::uint8_t raw[raw_bytes];
  transpose<4>(rows, b.n, b.k / 8, raw, b.n * 4);
  spread_over_blocks(b, b.k / 32, raw, 4,
                     [](const std::uint8_t* from, std::uint32_t* to) { std::memcpy(to, from, 32); });
}

// Rows of one orientation as rows of the other, in `raw`.
template <Element type>
Rows transposed(const Rows& rows, int count, int elements, std::uint8_t* raw) {
  constexpr int bytes = FloatFormat<type>::bits / 8;
  transpose<bytes>(rows, count, elements * bytes, raw, count * bytes);
  return {raw, count * bytes};
}

template <Element type>
void decode_floats(AOperand& a, const Rows& rows, Major major, __m256i sign) {
  if (major == Major::k) return decode_a_floats<type>(a, rows, sign);
  alignas(32) std::uint8_t raw[raw_bytes];
  decode_a_floats<type>(a, transposed<type>(rows, a.k, a.m, raw), sign);
}

template <Element type, bool split>
void decode_b_floats(BOperand& b, const Rows& rows, Major major, __m256i sign) {
  if (major == Major::mn) return decode_b_floats<type, split>(b, rows, sign);
  alignas(32) std::uint8_t raw[raw_bytes];
  const Rows by_k = transposed<type>(rows, b.n, b.k, raw);
  if (b.n <= 16) return decode_few_columns<type, split>(b, raw, sign);
  decode_b_floats<type, split>(b, by_k, sign);
}

template <Element type>
void decode_floats(BOperand& b, const Rows& rows, Major major, __m256i sign) {
  if constexpr (is_fp8(type)) {
    if (b.split) return decode_b_floats<type, true>(b, rows, major, sign);
  }
  decode_b_floats<type, false>(b, rows, major, sign);
}

template <class Operand>
void decode_floats(Operand& out, const Rows& rows, Major major, bool negate) {
  const __m256i sign = _mm256_set1_epi32(negate ? static_cast<int>(0x80000000u) : 0);
  switch (out.type) {
    case Element::f16:
      return decode_floats<Element::f16>(out, rows, major, sign);
    case Element::bf16:
      return decode_floats<Element::bf16>(out, rows, major, sign);
    case Element::tf32:
      return decode_floats<Element::tf32>(out, rows, major, sign);
    case Element::e4m3:
      return decode_floats<Element::e4m3>(out, rows, major, sign);
    case Element::e5m2:
      return decode_floats<Element::e5m2>(out, rows, major, sign);
    case Element::e2m3:
      return decode_floats<Element::e2m3>(out, rows, major, sign);
    case Element::e3m2:
      return decode_floats<Element::e3m2>(out, rows, major, sign);
    case Element::e2m1:
      return decode_floats<Element::e2m1>(out, rows, major, sign);
    default:
      assert(!"not a type of the tile kernels");
  }
}

}  // namespace

void decode_a(AOperand& out, Element type, int m, int k, Rows rows, Major major, bool negate) {
  assert(m >= 1 && m <= max_m && (k * element_bits(type)) % 256 == 0);
  assert(major == Major::k || (type != Element::b1 && (m * element_bits(type)) % 256 == 0));
  out.type = type;
  out.m = m;
  out.k = k;
  out.range = {};
  out.special_rows = 0;
  out.sparse = false;
  switch (type) {
    case Element::s8:
      return decode_a_integers<Element::s8>(out, rows, major);
    case Element::u8:
      return decode_a_integers<Element::u8>(out, rows, major);
    case Element::b1:
      for (int r = 0; r < m; ++r)
        std::memcpy(out.word + r * (k / 32), rows[r], static_cast<std::size_t>(k / 8));
      return;
    default:
      decode_floats(out, rows, major, negate);
  }
}

void decode_b(BOperand& out, Element type, int n, int k, Rows rows, Major major, bool negate,
              Generation generation) {
  assert(n >= 8 && n <= max_n && n % 8 == 0 && (k * element_bits(type)) % 256 == 0 &&
         (major == Major::k || type != Element::b1));
  out.type = type;
  out.split = is_fp8(type) && generation == Generation::hopper;
  out.n = n;
  out.k = k;
  out.range = {};
  std::memset(out.special_columns, 0, sizeof out.special_columns);
  switch (type) {
    case Element::s8:
      return decode_b_integers<Element::s8>(out, rows, major);
    case Element::u8:
      return decode_b_integers<Element::u8>(out, rows, major);
    case Element::b1:
      return decode_b_bits(out, rows);
    default:
      decode_floats(out, rows, major, negate);
  }
}

void select_sparse(AOperand& a, const std::uint64_t* selected) {
  a.sparse = true;
  std::memcpy(a.selected, selected, static_cast<std::size_t>(a.m) * sizeof *selected);
}

}  // namespace palladion::sim::numerics::tc
