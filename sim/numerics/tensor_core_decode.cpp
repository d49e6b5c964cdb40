#include <immintrin.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "sim/numerics/tensor_core.h"
#include "sim/numerics/tensor_core_transpose.h"

namespace palladion::sim::numerics::tc {
namespace {

constexpr int zero_exponent_byte = -64;

// Eight raw elements as f32, exactly.
template <Element type>
__m256 load_floats(const std::uint8_t* p) {
  if constexpr (type == Element::tf32) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return _mm256_castsi256_ps(_mm256_and_si256(x, _mm256_set1_epi32(~0x1FFF)));
  } else if constexpr (type == Element::f16) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  } else if constexpr (type == Element::bf16) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
  } else if constexpr (type == Element::e5m2) {
    const __m128i x = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    return _mm256_cvtph_ps(_mm_slli_epi16(x, 8));
  } else {
    // e4m3 in the fields of f16 is 2^8 too small (bias 7 against 15); 7F is its only NaN.
    const __m128i x = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    const __m128i magnitude = _mm_and_si128(x, _mm_set1_epi16(0x7F));
    const __m128i sign = _mm_slli_epi16(_mm_and_si128(x, _mm_set1_epi16(0x80)), 8);
    const __m128i half = _mm_or_si128(_mm_slli_epi16(magnitude, 7), sign);
    const __m256i nan = _mm256_cvtepi16_epi32(_mm_cmpeq_epi16(magnitude, _mm_set1_epi16(0x7F)));
    return _mm256_or_ps(_mm256_mul_ps(_mm256_cvtph_ps(half), _mm256_set1_ps(256.0f)), _mm256_castsi256_ps(nan));
  }
}

// Largest f32 exponent field of all values, smallest of those that are not zero.
struct Fields {
  __m256i largest = _mm256_setzero_si256();
  __m256i smallest = _mm256_set1_epi32(-1);

  void add(__m256i bits) {
    const __m256i magnitude = _mm256_slli_epi32(bits, 1);
    const __m256i field = _mm256_srli_epi32(magnitude, 24);
    const __m256i zero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
    largest = _mm256_max_epu32(largest, field);
    smallest = _mm256_min_epu32(smallest, _mm256_or_si256(field, zero));
  }
  bool any_special() const {
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(largest, _mm256_set1_epi32(255))) != 0;
  }
};

ExponentRange range_of(std::uint32_t smallest, std::uint32_t largest, Element type) {
  if (smallest > 255) return {};  // no finite non-zero element
  const int floor = min_exponent(type) + 127;
  return {std::max(static_cast<int>(smallest), floor), std::max(static_cast<int>(largest), floor)};
}

ExponentRange range_of(const Fields& fields, Element type) {
  alignas(32) std::uint32_t largest[8];
  alignas(32) std::uint32_t smallest[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(largest), fields.largest);
  _mm256_store_si256(reinterpret_cast<__m256i*>(smallest), fields.smallest);
  return range_of(*std::min_element(smallest, smallest + 8), *std::max_element(largest, largest + 8), type);
}

// Where infinities or NaNs are present, one element at a time.
struct SlowRange {
  std::uint32_t smallest = ~0u;
  std::uint32_t largest = 0;

  // Returns whether the element is special.
  bool add(std::uint32_t bits) {
    const std::uint32_t field = bits << 1 >> 24;
    if (field == 255) return true;
    if (bits << 1) {
      smallest = std::min(smallest, field);
      largest = std::max(largest, field);
    }
    return false;
  }
};

template <Element type>
void decode_floats(const std::uint8_t* from, int count, std::uint32_t* to, __m256i sign, Fields& fields) {
  constexpr int bytes = element_bits(type) / 8;
  for (int i = 0; i < count; i += 8) {
    const __m256i bits = _mm256_xor_si256(_mm256_castps_si256(load_floats<type>(from + i * bytes)), sign);
    _mm256_store_si256(reinterpret_cast<__m256i*>(to + i), bits);
    fields.add(bits);
  }
}

// Field exponents of eight values, relative to the largest and clamped.
class RelativeExponents {
 public:
  RelativeExponents(const ExponentRange& range, Element type)
      : floor_(_mm256_set1_epi32(min_exponent(type) + 127)), largest_(_mm256_set1_epi32(range.largest)) {}

  __m256i operator()(const std::uint32_t* values) const {
    const __m256i magnitude = _mm256_slli_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(values)), 1);
    const __m256i field = _mm256_max_epi32(_mm256_srli_epi32(magnitude, 24), floor_);
    const __m256i zero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
    const __m256i relative = _mm256_sub_epi32(field, largest_);
    const __m256i lowest = _mm256_set1_epi32(zero_exponent_byte);
    return _mm256_max_epi32(_mm256_blendv_epi8(relative, lowest, zero), lowest);
  }

 private:
  __m256i floor_;
  __m256i largest_;
};

void exponents_of_a(AOperand& a) {
  const RelativeExponents relative(a.range, a.type);
  const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12,  //
                                          0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
  for (int i = 0; i < a.m * a.k; i += 8) {
    const __m256i bytes = _mm256_shuffle_epi8(relative(a.word + i), spread);
    _mm256_store_si256(reinterpret_cast<__m256i*>(a.exponent + i), bytes);
  }
}

// 32 columns of one k at a time: decode_float_rows has filled words up to a multiple of 32 with zeros.
void exponents_of_b(BOperand& b) {
  const RelativeExponents relative(b.range, b.type);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (int column = 0; column < b.n; column += 32) {
    const std::ptrdiff_t first = std::ptrdiff_t{column / block_n} * b.k * block_n + column % block_n;
    for (int k = 0; k < b.k; ++k) {
      const std::uint32_t* v = b.word + first + k * block_n;
      const __m256i low = _mm256_packs_epi32(relative(v), relative(v + 8));
      const __m256i high = _mm256_packs_epi32(relative(v + 16), relative(v + 24));
      const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
      _mm256_store_si256(reinterpret_cast<__m256i*>(b.exponent + first + k * block_n), bytes);
    }
  }
}

void find_specials(AOperand& a) {
  SlowRange range;
  for (int m = 0; m < a.m; ++m) {
    for (int k = 0; k < a.k; ++k) {
      if (range.add(a.word[m * a.k + k])) a.special_rows |= std::uint64_t{1} << m;
    }
  }
  a.range = range_of(range.smallest, range.largest, a.type);
}

void find_specials(BOperand& b) {
  SlowRange range;
  for (int n = 0; n < b.n; ++n) {
    const std::uint32_t* v = b.word + std::ptrdiff_t{n / block_n} * b.k * block_n + n % block_n;
    for (int k = 0; k < b.k; ++k) {
      if (range.add(v[k * block_n])) b.special_columns[n / block_n] |= std::uint64_t{1} << n % block_n;
    }
  }
  b.range = range_of(range.smallest, range.largest, b.type);
}

template <Element type>
void decode_a_floats(AOperand& a, const Rows& rows, __m256i sign) {
  Fields fields;
  for (int m = 0; m < a.m; ++m) decode_floats<type>(rows[m], a.k, a.word + m * a.k, sign, fields);
  a.range = range_of(fields, type);
  if (fields.any_special()) find_specials(a);
  exponents_of_a(a);
}

// Rows are those of one k.
template <Element type>
void decode_b_floats(BOperand& b, const Rows& rows, __m256i sign) {
  constexpr int bytes = element_bits(type) / 8;
  Fields fields;
  for (int column = 0; column < b.n; column += block_n) {
    const int count = std::min(block_n, b.n - column);
    const int padded = (count + 31) / 32 * 32;
    for (int k = 0; k < b.k; ++k) {
      std::uint32_t* to = b.word + column * b.k + k * block_n;
      decode_floats<type>(rows[k] + column * bytes, count, to, sign, fields);
      for (int i = count; i < padded; i += 8) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(to + i), _mm256_setzero_si256());
      }
    }
  }
  b.range = range_of(fields, type);
  if (fields.any_special()) find_specials(b);
  exponents_of_b(b);
}

// Sixteen bytes become eight words of two int16.
template <Element type>
void store_pairs(const std::uint8_t* from, std::uint32_t* to) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const __m256i pairs = type == Element::s8 ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), pairs);
}

template <Element type>
void decode_a_integers(AOperand& a, const Rows& rows) {
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

template <Element type>
void decode_b_integers(BOperand& b, const Rows& rows) {
  alignas(32) std::uint8_t raw[max_n * max_k];
  transpose<2>(rows, b.n, b.k, raw, b.n * 2);
  spread_over_blocks(b, b.k / 2, raw, 2, store_pairs<type>);
}

void decode_b_bits(BOperand& b, const Rows& rows) {
  alignas(32) std::uint8_t raw[max_n * max_k];
  transpose<4>(rows, b.n, b.k / 8, raw, b.n * 4);
  spread_over_blocks(b, b.k / 32, raw, 4, [](const std::uint8_t* from, std::uint32_t* to) { std::memcpy(to, from, 32); });
}

// Turns rows of one orientation into rows of the other, in `raw`.
Rows transposed(Element type, const Rows& rows, int count, int elements, std::uint8_t* raw) {
  const int bytes = element_bits(type) / 8;
  switch (bytes) {
    case 1: transpose<1>(rows, count, elements, raw, count); break;
    case 2: transpose<2>(rows, count, elements * 2, raw, count * 2); break;
    default: transpose<4>(rows, count, elements * 4, raw, count * 4);
  }
  return {raw, count * bytes};
}

constexpr int raw_bytes = max_n * max_k * 2;  // a row of one operand holds at most 64 bytes of k (128 for mma of f16)

template <template <Element> class Decode, class... Args>
void dispatch(Element type, Args&&... args) {
  switch (type) {
    case Element::f16: return Decode<Element::f16>::run(args...);
    case Element::bf16: return Decode<Element::bf16>::run(args...);
    case Element::tf32: return Decode<Element::tf32>::run(args...);
    case Element::e4m3: return Decode<Element::e4m3>::run(args...);
    case Element::e5m2: return Decode<Element::e5m2>::run(args...);
    default: assert(!"not a float of the tensor core");
  }
}

template <Element type>
struct DecodeA {
  static void run(AOperand& a, const Rows& rows, __m256i sign) { decode_a_floats<type>(a, rows, sign); }
};
template <Element type>
struct DecodeB {
  static void run(BOperand& b, const Rows& rows, __m256i sign) { decode_b_floats<type>(b, rows, sign); }
};

__m256i sign_mask(bool negate) { return _mm256_set1_epi32(negate ? static_cast<int>(0x80000000u) : 0); }

}  // namespace

void decode_a(AOperand& out, Element type, int m, int k, Rows rows, Major major, bool negate) {
  assert(m >= 1 && m <= max_m && (k * element_bits(type)) % 256 == 0);
  out.type = type;
  out.m = m;
  out.k = k;
  out.range = {};
  out.special_rows = 0;
  out.sparse = false;
  if (type == Element::b1) {
    for (int r = 0; r < m; ++r) std::memcpy(out.word + r * (k / 32), rows[r], static_cast<std::size_t>(k / 8));
  } else if (type == Element::s8) {
    decode_a_integers<Element::s8>(out, rows);
  } else if (type == Element::u8) {
    decode_a_integers<Element::u8>(out, rows);
  } else if (major == Major::k) {
    dispatch<DecodeA>(type, out, rows, sign_mask(negate));
  } else {
    alignas(32) std::uint8_t raw[raw_bytes];
    dispatch<DecodeA>(type, out, transposed(type, rows, k, m, raw), sign_mask(negate));
  }
}

void decode_b(BOperand& out, Element type, int n, int k, Rows rows, Major major, bool negate) {
  assert(n >= 8 && n <= max_n && n % 8 == 0 && (k * element_bits(type)) % 256 == 0);
  out.type = type;
  out.n = n;
  out.k = k;
  out.range = {};
  std::memset(out.special_columns, 0, sizeof out.special_columns);
  if (type == Element::b1) {
    decode_b_bits(out, rows);
  } else if (type == Element::s8) {
    decode_b_integers<Element::s8>(out, rows);
  } else if (type == Element::u8) {
    decode_b_integers<Element::u8>(out, rows);
  } else if (major == Major::mn) {
    dispatch<DecodeB>(type, out, rows, sign_mask(negate));
  } else {
    alignas(32) std::uint8_t raw[raw_bytes];
    dispatch<DecodeB>(type, out, transposed(type, rows, n, k, raw), sign_mask(negate));
  }
}

void select_sparse(AOperand& a, const std::uint64_t* selected) {
  a.sparse = true;
  std::memcpy(a.selected, selected, static_cast<std::size_t>(a.m) * sizeof *selected);
}

}  // namespace palladion::sim::numerics::tc
