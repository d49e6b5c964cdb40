// GCC 12 warns inside its own AVX-512 headers (its PR 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#include "sim/numerics/tcgen05_vector.h"
#include "sim/numerics/tensor_core_vector.h"

namespace palladion::sim::numerics::tc {
namespace {

// Bits, and how they come from memory.
struct Avx512Memory {
  using F = __m512;
  using I = __m512i;
  static constexpr int lanes = 16;
  static constexpr int rows = 2;  // at a time
  static constexpr __mmask16 half_lanes = 0xFF;

  static I zero() { return _mm512_setzero_si512(); }
  static I set(int x) { return _mm512_set1_epi32(x); }
  static F as_float(I x) { return _mm512_castsi512_ps(x); }
  static I as_int(F x) { return _mm512_castps_si512(x); }

  static I broadcast(const std::uint32_t* p) { return _mm512_set1_epi32(static_cast<int>(*p)); }
  static I load_aligned(const void* p) { return _mm512_load_si512(p); }
  static void store_aligned(void* p, I x) { _mm512_store_si512(p, x); }
  static I load_bytes(const std::int8_t* p) { return _mm512_loadu_si512(p); }
  static void store_bytes(std::int8_t* p, I x) { _mm512_store_si512(p, x); }

  template <bool partial>
  static I load(const std::uint32_t* p) {
    return partial ? _mm512_maskz_loadu_epi32(half_lanes, p) : _mm512_loadu_si512(p);
  }
  template <bool partial>
  static void store(std::uint32_t* p, I x) {
    if constexpr (partial) {
      _mm512_mask_storeu_epi32(p, half_lanes, x);
    } else {
      _mm512_storeu_si512(p, x);
    }
  }
  template <bool partial>
  static I load_half(const std::uint16_t* p) {
    const __m256i h = partial ? _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))
                              : _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return as_int(_mm512_cvtph_ps(h));
  }
  template <bool partial>
  static void store_half(std::uint16_t* p, F x) {
    const __m256i rounded = _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __mmask16 keep = _mm256_cmpneq_epi16_mask(rounded, _mm256_set1_epi16(static_cast<short>(0x8000)));
    const __m256i h = _mm256_maskz_mov_epi16(keep, rounded);
    if constexpr (partial) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(h));
    } else {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), h);
    }
  }
};

struct Avx512Integers : Avx512Memory {
  static I add(I a, I b) { return _mm512_add_epi32(a, b); }
  static I sub(I a, I b) { return _mm512_sub_epi32(a, b); }
  static I max(I a, I b) { return _mm512_max_epi32(a, b); }
  static I min(I a, I b) { return _mm512_min_epi32(a, b); }
  static I bit_and(I a, I b) { return _mm512_and_si512(a, b); }
  static I bit_or(I a, I b) { return _mm512_or_si512(a, b); }
  static I bit_xor(I a, I b) { return _mm512_xor_si512(a, b); }
  template <int n>
  static I shift_left(I a) {
    return _mm512_slli_epi32(a, n);
  }
  template <int n>
  static I shift_right(I a) {
    return _mm512_srli_epi32(a, n);
  }
  static bool any_negative(I a) { return _mm512_movepi32_mask(a) != 0; }

  static I add_bytes(I a, I b) { return _mm512_add_epi8(a, b); }
  static I max_bytes(I a, I b) { return _mm512_max_epi8(a, b); }
  // Sums that are hidden go to hidden_exponent.
  static I hide(I e) {
    const __mmask64 visible = _mm512_cmpgt_epi8_mask(e, _mm512_set1_epi8(largest_hidden_exponent));
    return _mm512_mask_mov_epi8(_mm512_set1_epi8(hidden_exponent), visible, e);
  }
  static I widen(const std::int8_t* p) {
    return _mm512_cvtepi8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static I halve(I a) { return _mm512_srai_epi32(a, 1); }  // toward minus infinity
  static I both_negative(I a, I b) { return _mm512_srai_epi32(bit_and(a, b), 31); }
  static I select(I mask, I yes, I no) { return _mm512_ternarylogic_epi32(mask, yes, no, 0xCA); }
  static I select_zero(I x, I yes, I no) {
    return _mm512_mask_mov_epi32(no, _mm512_testn_epi32_mask(x, x), yes);
  }

  // Of mxf4: sums of two products a lane of 16 bits, of bytes without and with a sign.
  static I add_byte_products(I sums, I a, I b) { return _mm512_add_epi16(sums, _mm512_maddubs_epi16(a, b)); }
  static I add_pairs(I x) { return _mm512_madd_epi16(x, _mm512_set1_epi16(1)); }

  static I dot_pairs(I a, I b) { return _mm512_madd_epi16(a, b); }
  static I popcount_bytes(I x) {
    const I table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const I nibble = _mm512_set1_epi8(15);
    return add_bytes(_mm512_shuffle_epi8(table, bit_and(x, nibble)),
                     _mm512_shuffle_epi8(table, bit_and(shift_right<4>(x), nibble)));
  }
  static I add_four_bytes(I x) {
    return _mm512_madd_epi16(_mm512_maddubs_epi16(x, _mm512_set1_epi8(1)), _mm512_set1_epi16(1));
  }
};

struct Avx512 : Avx512Integers {
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static F add_float(F a, F b) { return _mm512_add_ps(a, b); }
  static F max_float(F a, F b) { return _mm512_max_ps(a, b); }
  static F min_float(F a, F b) { return _mm512_min_ps(a, b); }
  static I truncate(F a) { return _mm512_cvttps_epi32(a); }
  static F to_float(I a) { return _mm512_cvtepi32_ps(a); }
  static F or_lowest_bit_if_different(F x, I a, I b) {
    const I bits = as_int(x);
    return as_float(_mm512_mask_or_epi32(bits, _mm512_cmpneq_epi32_mask(a, b), bits, set(1)));
  }

  static F round_to_zero(F x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
  static __m512d low_doubles(F x) { return _mm512_cvtps_pd(_mm512_castps512_ps256(x)); }
  static __m512d high_doubles(F x) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)); }
  static __m512d add_doubles(__m512d a, __m512d b) { return _mm512_add_pd(a, b); }
  static __m512d mul_doubles(__m512d a, __m512d b) { return _mm512_mul_pd(a, b); }
  static F from_doubles(__m512d low, __m512d high) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
  }
};

}  // namespace

void multiply_avx512(const Job& job) { run_job<Avx512>(job); }

}  // namespace palladion::sim::numerics::tc

namespace palladion::sim::numerics::tcgen05 {

void multiply_packed_avx512(const PackedJob& job) { run_packed_job<tc::Avx512>(job); }

}  // namespace palladion::sim::numerics::tcgen05
