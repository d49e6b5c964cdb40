// f16 and bf16 arithmetic and conversions on contiguous arrays, eight elements at a time, with the same bits
// as the scalar forms. A warp register of 32 f16x2 values is an array of 64 halves: packed instructions are
// these calls with `count` 64. Counts are multiples of 8; results may overwrite operands.
#pragma once

#include "isa/num/arith.h"

namespace palladion::isa::num::lanes {

enum class HalfOp : std::uint8_t { add, sub, mul, fma };

namespace detail {

PLD_NUM_INLINE __m128i load8(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
PLD_NUM_INLINE void store8(void* p, __m128i x) { _mm_storeu_si128(static_cast<__m128i*>(p), x); }

template <class F>
PLD_NUM_INLINE __m128i flush8(__m128i x) {
  const __m128i exponent = _mm_and_si128(x, _mm_set1_epi16(static_cast<short>(F::infinity)));
  const __m128i tiny = _mm_cmpeq_epi16(exponent, _mm_setzero_si128());
  return _mm_andnot_si128(_mm_and_si128(tiny, _mm_set1_epi16(0x7FFF)), x);
}

/// NaN to the canonical one, then the modifiers, as in the scalar `finish`.
template <class F, ArithMods M>
PLD_NUM_INLINE __m128i finish8(__m128i x) {
  const __m128i nan = _mm_cmpgt_epi16(_mm_and_si128(x, _mm_set1_epi16(0x7FFF)),
                                      _mm_set1_epi16(static_cast<short>(F::infinity)));
  if constexpr (M.ftz) x = flush8<F>(x);
  if constexpr (M.sat) {
    x = _mm_min_epi16(_mm_max_epi16(x, _mm_setzero_si128()), _mm_set1_epi16(static_cast<short>(F::one)));
    return _mm_andnot_si128(nan, x);
  }
  x = _mm_blendv_epi8(x, _mm_set1_epi16(static_cast<short>(F::canonical_nan)), nan);
  if constexpr (M.relu) x = _mm_max_epi16(x, _mm_setzero_si128());
  return x;
}

/// The vector form of `odd_sum`.
PLD_NUM_INLINE __m256 odd_sum8(__m256 a, __m256 b) {
  const __m256 sum = a + b;
  const __m256 b_seen = sum - a;
  const __m256 error = (a - (sum - b_seen)) + (b - b_seen);
  const __m256i bits = _mm256_castps_si256(sum);
  const __m256i error_bits = _mm256_castps_si256(error);
  const __m256i size = _mm256_and_si256(error_bits, _mm256_set1_epi32(0x7FFFFFFF));
  const __m256i nan = _mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x7F800000));
  const __m256i inexact = _mm256_andnot_si256(nan, _mm256_cmpgt_epi32(size, _mm256_setzero_si256()));
  const __m256i opposite = _mm256_srai_epi32(_mm256_xor_si256(error_bits, bits), 31);
  const __m256i truncated = _mm256_add_epi32(bits, _mm256_and_si256(opposite, inexact));
  return _mm256_castsi256_ps(_mm256_or_si256(truncated, _mm256_srli_epi32(inexact, 31)));
}

template <HalfOp O>
PLD_NUM_INLINE __m256 wide_op(__m256 a, __m256 b, __m256 c) {
  if constexpr (O == HalfOp::add) return a + b;
  if constexpr (O == HalfOp::sub) return a - b;
  if constexpr (O == HalfOp::mul) return a * b;
  if constexpr (O == HalfOp::fma) return odd_sum8(_mm256_mul_ps(a, b), c);
}

PLD_NUM_INLINE __m256 widen_bf16(__m128i x) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}

/// Nearest even, numbers only: callers send NaN elsewhere.
PLD_NUM_INLINE __m128i narrow_bf16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded =
      _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, odd), _mm256_set1_epi32(0x7FFF)), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1));
}

/// All magnitudes in [2^-100, 2^127): f32 products of bf16 are exact there.
PLD_NUM_INLINE bool all_in_range(__m256 x) {
  const __m256i size = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7FFFFFFF));
  const __m256i good = _mm256_and_si256(_mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x0D7FFFFF)),
                                        _mm256_cmpgt_epi32(_mm256_set1_epi32(0x7F000000), size));
  return _mm256_movemask_epi8(good) == -1;
}

PLD_NUM_INLINE bool all_below_overflow(__m256 x) {
  const __m256i size = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7FFFFFFF));
  return _mm256_movemask_epi8(_mm256_cmpgt_epi32(_mm256_set1_epi32(0x7F000000), size)) == -1;
}

template <HalfOp O, class F, ArithMods M>
PLD_NUM_INLINE bits_of<F> scalar_op(bits_of<F> a, bits_of<F> b, bits_of<F> c) {
  if constexpr (O == HalfOp::add) return num::add<F, M>(a, b);
  if constexpr (O == HalfOp::sub) return num::sub<F, M>(a, b);
  if constexpr (O == HalfOp::mul) return num::mul<F, M>(a, b);
  if constexpr (O == HalfOp::fma) return num::fma<F, M>(a, b, c);
}

/// Products near the ends of the range, infinities and NaNs: eight scalar operations through f64.
template <HalfOp O, ArithMods M>
[[gnu::noinline]] __m128i bf16_slow(__m128i a, __m128i b, __m128i c) {
  alignas(16) std::uint16_t x[8], y[8], z[8];
  store8(x, a), store8(y, b), store8(z, c);
  for (int i = 0; i < 8; ++i) x[i] = scalar_op<O, Bf16, M>(x[i], y[i], z[i]);
  return load8(x);
}

template <HalfOp O, ArithMods M>
PLD_NUM_INLINE __m128i bf16_op8(__m128i a, __m128i b, __m128i c) {
  if constexpr (M.ftz) a = flush8<Bf16>(a), b = flush8<Bf16>(b), c = flush8<Bf16>(c);
  const __m256 wide_a = widen_bf16(a);
  const __m256 wide_b = widen_bf16(b);
  __m256 result;
  if constexpr (O == HalfOp::add || O == HalfOp::sub) {
    result = wide_op<O>(wide_a, wide_b, wide_b);
    if (!all_below_overflow(result)) return bf16_slow<O, M>(a, b, c);
  } else {
    const __m256 product = wide_a * wide_b;
    const __m256 zero = _mm256_setzero_ps();
    // A zero product is exact only if a factor is zero.
    const __m256 zero_factor =
        _mm256_or_ps(_mm256_cmp_ps(wide_a, zero, _CMP_EQ_OQ), _mm256_cmp_ps(wide_b, zero, _CMP_EQ_OQ));
    if (!all_in_range(_mm256_blendv_ps(product, _mm256_set1_ps(1), zero_factor)))
      return bf16_slow<O, M>(a, b, c);
    result = O == HalfOp::fma ? odd_sum8(product, widen_bf16(c)) : product;
    if (!all_below_overflow(result)) return bf16_slow<O, M>(a, b, c);
  }
  return finish8<Bf16, M>(narrow_bf16(result));
}

/// The vector form of `flush_tiny_f16`.
PLD_NUM_INLINE __m256 flush_tiny8(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i magnitude_mask = _mm256_set1_epi32(0x7FFFFFFF);
  const __m256i tiny = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(num::detail::f16_tiny_below)),
                                          _mm256_and_si256(bits, magnitude_mask));
  return _mm256_castsi256_ps(_mm256_andnot_si256(_mm256_and_si256(tiny, magnitude_mask), bits));
}

template <HalfOp O, ArithMods M>
PLD_NUM_INLINE __m128i f16_op8(__m128i a, __m128i b, __m128i c) {
  if constexpr (M.ftz) a = flush8<F16>(a), b = flush8<F16>(b), c = flush8<F16>(c);
  __m256 result = wide_op<O>(_mm256_cvtph_ps(a), _mm256_cvtph_ps(b), _mm256_cvtph_ps(c));
  if constexpr (M.ftz) result = flush_tiny8(result);
  return finish8<F16, num::detail::without_ftz(M)>(_mm256_cvtps_ph(result, _MM_FROUND_TO_NEAREST_INT));
}

}  // namespace detail

/// d[i] = op(a[i], b[i] [, c[i]]) over arrays of 16-bit patterns of F (F16 or Bf16). `c` may be anything
/// readable but for fma.
template <class F, HalfOp O, ArithMods M = ArithMods{}>
inline void half_op(const void* a, const void* b, const void* c, void* d, int count) {
  for (int byte = 0; byte < count * 2; byte += 16) {
    const __m128i x = detail::load8(static_cast<const char*>(a) + byte);
    const __m128i y = detail::load8(static_cast<const char*>(b) + byte);
    const __m128i z =
        O == HalfOp::fma ? detail::load8(static_cast<const char*>(c) + byte) : _mm_setzero_si128();
    if constexpr (std::is_same_v<F, F16>) {
      detail::store8(static_cast<char*>(d) + byte, detail::f16_op8<O, M>(x, y, z));
    } else {
      detail::store8(static_cast<char*>(d) + byte, detail::bf16_op8<O, M>(x, y, z));
    }
  }
}

/// f16 or bf16 patterns to f32 patterns; NaN as in `to_f32_bits`. Any count.
template <class F>
inline void to_f32(const std::uint16_t* in, std::uint32_t* out, std::size_t count) {
  std::size_t i = 0;
  if constexpr (std::is_same_v<F, F16>) {
    for (const std::size_t whole = count & ~std::size_t{7}; i < whole; i += 8) {
      const __m256i wide = _mm256_castps_si256(_mm256_cvtph_ps(detail::load8(in + i)));
      const __m256i size = _mm256_and_si256(wide, _mm256_set1_epi32(0x7FFFFFFF));
      const __m256i nan = _mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x7F800000));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                          _mm256_blendv_epi8(wide, _mm256_set1_epi32(0x7FFFFFFF), nan));
    }
  }
  for (; i < count; ++i) out[i] = to_f32_bits<F>(in[i]);
}

/// f32 patterns to f16 or bf16 patterns. Any count.
template <class F, Rounding R = Rounding::rn>
inline void from_f32(const std::uint32_t* in, std::uint16_t* out, std::size_t count) {
  std::size_t i = 0;
  if constexpr (std::is_same_v<F, F16>) {
    for (const std::size_t whole = count & ~std::size_t{7}; i < whole; i += 8) {
      const __m256 wide = _mm256_loadu_ps(reinterpret_cast<const float*>(in + i));
      detail::store8(
          out + i, detail::finish8<F16, ArithMods{}>(_mm256_cvtps_ph(wide, num::detail::f16c_immediate<R>)));
    }
  }
  for (; i < count; ++i) out[i] = encode_f32<F, R>(in[i]);
}

}  // namespace palladion::isa::num::lanes
