// Raw elements, 32 bytes at a time: their values as f32, their field exponents, what is special among them.
// Private to the decoder.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>

#include "sim/numerics/tensor_core.h"
#include "sim/numerics/tensor_core_kernels.h"

namespace palladion::sim::numerics::tc {

template <int width, int fraction, int exponent_bias, std::uint32_t magnitude, std::uint32_t special>
struct FloatFields {
  static constexpr int bits = width, fraction_bits = fraction, bias = exponent_bias;
  static constexpr std::uint32_t magnitude_mask = magnitude, first_special = special;
};
template <Element type>
struct FloatFormat;
template <>
struct FloatFormat<Element::f16> : FloatFields<16, 10, 15, 0x7FFF, 0x7C00> {};
template <>
struct FloatFormat<Element::bf16> : FloatFields<16, 7, 127, 0x7FFF, 0x7F80> {};
template <>
struct FloatFormat<Element::tf32> : FloatFields<32, 23, 127, 0x7FFFE000, 0x7F800000> {};
template <>
struct FloatFormat<Element::e4m3> : FloatFields<8, 3, 7, 0x7F, 0x7F> {};
template <>
struct FloatFormat<Element::e5m2> : FloatFields<8, 2, 15, 0x7F, 0x7C> {};
template <>
struct FloatFormat<Element::e2m3> : FloatFields<8, 3, 1, 0x1F, 0x20> {
};  // no specials: beyond all magnitudes
template <>
struct FloatFormat<Element::e3m2> : FloatFields<8, 2, 3, 0x1F, 0x20> {};
template <>
struct FloatFormat<Element::e2m1> : FloatFields<8, 1, 1, 0x07, 0x08> {};

// Integer lanes as wide as an element.
template <int bits>
struct Lanes;

template <>
struct Lanes<8> {
  using U = std::uint8_t;
  static __m256i set(std::uint32_t x) { return _mm256_set1_epi8(static_cast<char>(x)); }
  static __m256i sub(__m256i a, __m256i b) { return _mm256_sub_epi8(a, b); }
  static __m256i equal(__m256i a, __m256i b) { return _mm256_cmpeq_epi8(a, b); }
  static __m256i max(__m256i a, __m256i b) { return _mm256_max_epi8(a, b); }
  static __m256i max_unsigned(__m256i a, __m256i b) { return _mm256_max_epu8(a, b); }
  static __m256i min_unsigned(__m256i a, __m256i b) { return _mm256_min_epu8(a, b); }
  template <int n>
  static __m256i shift_right(__m256i a) {
    return _mm256_and_si256(_mm256_srli_epi16(a, n), set(0xFFu >> n));
  }
};
template <>
struct Lanes<16> {
  using U = std::uint16_t;
  static __m256i set(std::uint32_t x) { return _mm256_set1_epi16(static_cast<short>(x)); }
  static __m256i sub(__m256i a, __m256i b) { return _mm256_sub_epi16(a, b); }
  static __m256i equal(__m256i a, __m256i b) { return _mm256_cmpeq_epi16(a, b); }
  static __m256i max(__m256i a, __m256i b) { return _mm256_max_epi16(a, b); }
  static __m256i max_unsigned(__m256i a, __m256i b) { return _mm256_max_epu16(a, b); }
  static __m256i min_unsigned(__m256i a, __m256i b) { return _mm256_min_epu16(a, b); }
  template <int n>
  static __m256i shift_right(__m256i a) {
    return _mm256_srli_epi16(a, n);
  }
};
template <>
struct Lanes<32> {
  using U = std::uint32_t;
  static __m256i set(std::uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
  static __m256i sub(__m256i a, __m256i b) { return _mm256_sub_epi32(a, b); }
  static __m256i equal(__m256i a, __m256i b) { return _mm256_cmpeq_epi32(a, b); }
  static __m256i max(__m256i a, __m256i b) { return _mm256_max_epi32(a, b); }
  static __m256i max_unsigned(__m256i a, __m256i b) { return _mm256_max_epu32(a, b); }
  static __m256i min_unsigned(__m256i a, __m256i b) { return _mm256_min_epu32(a, b); }
  template <int n>
  static __m256i shift_right(__m256i a) {
    return _mm256_srli_epi32(a, n);
  }
};

template <Element type>
using LanesOf = Lanes<FloatFormat<type>::bits>;

template <Element type>
inline constexpr int elements_per_vector = 256 / FloatFormat<type>::bits;

inline __m256i load_raw(const std::uint8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

template <Element type>
__m256i magnitude_of(__m256i raw) {
  return _mm256_and_si256(raw, LanesOf<type>::set(FloatFormat<type>::magnitude_mask));
}

// Types with few exponents have one range for every tile; for the others the tile is scanned.
template <Element type>
inline constexpr bool has_fixed_range = FloatFormat<type>::bias < 127;

template <Element type>
constexpr ExponentRange fixed_range() {
  using F = FloatFormat<type>;
  const int largest_field = static_cast<int>((F::first_special - 1) >> F::fraction_bits);
  return {1 - F::bias + 127, largest_field - F::bias + 127};
}

// Extremes of the magnitudes of a tile.
template <Element type>
class Scan {
  using L = LanesOf<type>;
  using F = FloatFormat<type>;

 public:
  void add(__m256i raw) {
    const __m256i magnitude = magnitude_of<type>(raw);
    largest_ = L::max_unsigned(largest_, magnitude);
    if constexpr (!has_fixed_range<type>) {
      smallest_less_one_ =
          L::min_unsigned(smallest_less_one_, L::sub(magnitude, L::set(1)));  // zero becomes the largest
    }
  }

  bool any_special() const { return largest() >= F::first_special; }

  // Without specials.
  ExponentRange range() const {
    if constexpr (has_fixed_range<type>) return fixed_range<type>();
    if (largest() == 0) return {};
    return {exponent(smallest() + 1), exponent(largest())};
  }

  static int exponent(std::uint32_t magnitude) {
    const int field = static_cast<int>(magnitude >> F::fraction_bits);
    return (field ? field : 1) - F::bias + 127;
  }

 private:
  std::uint32_t largest() const {
    return fold(largest_, [](auto x, auto y) { return x > y ? x : y; });
  }
  std::uint32_t smallest() const {
    return fold(smallest_less_one_, [](auto x, auto y) { return x < y ? x : y; });
  }

  template <class Pick>
  static std::uint32_t fold(__m256i lanes, Pick pick) {
    constexpr int count = elements_per_vector<type>;
    alignas(32) typename L::U all[count];
    _mm256_store_si256(reinterpret_cast<__m256i*>(all), lanes);
    std::uint32_t out = all[0];
    for (int i = 1; i < count; ++i) out = pick(out, std::uint32_t{all[i]});
    return out;
  }

  __m256i largest_ = _mm256_setzero_si256();
  __m256i smallest_less_one_ = _mm256_set1_epi32(-1);
};

// Field exponents relative to the tile's largest, in lanes as wide as the elements; hidden_element_exponent
// for zeros and as the lower bound.
template <Element type>
class RelativeExponents {
  using L = LanesOf<type>;
  using F = FloatFormat<type>;

 public:
  explicit RelativeExponents(const ExponentRange& range)
      : largest_field_(L::set(static_cast<std::uint32_t>(range.largest - 127 + F::bias))) {}

  __m256i operator()(__m256i raw) const {
    const __m256i magnitude = magnitude_of<type>(raw);
    const __m256i field = L::max_unsigned(L::template shift_right<F::fraction_bits>(magnitude), L::set(1));
    const __m256i hidden = L::set(static_cast<std::uint32_t>(hidden_element_exponent));
    __m256i relative = L::sub(field, largest_field_);
    if constexpr (!has_fixed_range<type>) relative = L::max(relative, hidden);
    return _mm256_blendv_epi8(relative, hidden, L::equal(magnitude, _mm256_setzero_si256()));
  }

 private:
  __m256i largest_field_;
};

inline void store_words(std::uint32_t* to, __m256i x) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), x);
}

// Where decoded values go: in one row of words, or fp8 of B in two, by sign.
struct PlainSink {
  std::uint32_t* to;
  __m256i flip;  // sign bits to change

  void operator()(int at, __m256i bits) const { store_words(to + at, _mm256_xor_si256(bits, flip)); }
  void nan(int at) const { to[at] = 0x7FFFFFFF; }
};
struct SplitSink {
  std::uint32_t* to;
  __m256i flip;

  void operator()(int at, __m256i bits) const {
    bits = _mm256_xor_si256(bits, flip);
    const __m256i negative = _mm256_srai_epi32(bits, 31);
    store_words(to + at, _mm256_andnot_si256(negative, bits));
    store_words(to + block_n + at, _mm256_and_si256(negative, bits));
  }
  void nan(int at) const { to[at] = 0x7FFFFFFF; }
};

// Sixteen f16 as f32.
template <class Sink>
void store_halves(__m256i halves, const Sink& sink, int at, float scale) {
  const __m256 factor = _mm256_set1_ps(scale);
  __m256 low = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
  __m256 high = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
  if (scale != 1) low = _mm256_mul_ps(low, factor), high = _mm256_mul_ps(high, factor);
  sink(at, _mm256_castps_si256(low));
  sink(at + 8, _mm256_castps_si256(high));
}

// Sixteen bytes: in the fields of f16 they are 2^(15 - bias) too small. NaNs are set by the caller.
template <Element type, class Sink>
void store_bytes_as_halves(__m128i bytes, const Sink& sink, int at) {
  using F = FloatFormat<type>;
  constexpr int sign = F::magnitude_mask + 1, to_sign = std::countl_zero(static_cast<std::uint16_t>(sign));
  const __m256i x = _mm256_cvtepu8_epi16(bytes);
  const __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi16(F::magnitude_mask));
  const __m256i negative = _mm256_slli_epi16(_mm256_and_si256(x, _mm256_set1_epi16(sign)), to_sign);
  store_halves(_mm256_or_si256(_mm256_slli_epi16(magnitude, 10 - F::fraction_bits), negative), sink, at,
               static_cast<float>(1 << (15 - F::bias)));
}

// The 8, 16 or 32 elements of 32 bytes as f32 bits, exactly, to places from `at` on.
template <Element type, class Sink>
void store_values(const std::uint8_t* from, const Sink& sink, int at) {
  const __m256i raw = load_raw(from);
  if constexpr (type == Element::tf32) {
    sink(at, _mm256_and_si256(raw, _mm256_set1_epi32(~0x1FFF)));
  } else if constexpr (type == Element::f16) {
    store_halves(raw, sink, at, 1);
  } else if constexpr (type == Element::bf16) {
    sink(at, _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(raw)), 16));
    sink(at + 8, _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm256_extracti128_si256(raw, 1)), 16));
  } else if constexpr (type == Element::e5m2) {
    store_halves(_mm256_slli_epi16(_mm256_cvtepu8_epi16(_mm256_castsi256_si128(raw)), 8), sink, at, 1);
    store_halves(_mm256_slli_epi16(_mm256_cvtepu8_epi16(_mm256_extracti128_si256(raw, 1)), 8), sink, at + 16,
                 1);
  } else {
    store_bytes_as_halves<type>(_mm256_castsi256_si128(raw), sink, at);
    store_bytes_as_halves<type>(_mm256_extracti128_si256(raw, 1), sink, at + 16);
    if constexpr (type != Element::e4m3) return;
    const __m256i nan = _mm256_cmpeq_epi8(magnitude_of<type>(raw), _mm256_set1_epi8(0x7F));
    for (unsigned mask = static_cast<unsigned>(_mm256_movemask_epi8(nan)); mask; mask &= mask - 1) {
      sink.nan(at + __builtin_ctz(mask));
    }
  }
}

}  // namespace palladion::sim::numerics::tc
