#include <immintrin.h>

#include "sim/numerics/tcgen05_vector.h"
#include "sim/numerics/tensor_core_vector.h"

namespace palladion::sim::numerics::tc {
namespace {

// Bits, and how they come from memory.
struct Avx2Memory {
  using F = __m256;
  using I = __m256i;
  static constexpr int lanes = 8;
  static constexpr int rows = 1;  // at a time: there are 16 registers

  static I zero() { return _mm256_setzero_si256(); }
  static I set(int x) { return _mm256_set1_epi32(x); }
  static F as_float(I x) { return _mm256_castsi256_ps(x); }
  static I as_int(F x) { return _mm256_castps_si256(x); }

  static I broadcast(const std::uint32_t* p) { return _mm256_set1_epi32(static_cast<int>(*p)); }
  static I load_aligned(const void* p) { return _mm256_load_si256(static_cast<const I*>(p)); }
  static void store_aligned(void* p, I x) { _mm256_store_si256(static_cast<I*>(p), x); }
  static I load_bytes(const std::int8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const I*>(p)); }
  static void store_bytes(std::int8_t* p, I x) { _mm256_store_si256(reinterpret_cast<I*>(p), x); }

  template <bool partial>
  static I load(const std::uint32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const I*>(p));
  }
  template <bool partial>
  static void store(std::uint32_t* p, I x) {
    _mm256_storeu_si256(reinterpret_cast<I*>(p), x);
  }
  template <bool partial>
  static I load_half(const std::uint16_t* p) {
    return as_int(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  template <bool partial>
  static void store_half(std::uint16_t* p, F x) {
    const __m128i h = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m128i minus_zero = _mm_cmpeq_epi16(h, _mm_set1_epi16(static_cast<short>(0x8000)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_andnot_si128(minus_zero, h));
  }
};

struct Avx2Integers : Avx2Memory {
  static I add(I a, I b) { return _mm256_add_epi32(a, b); }
  static I sub(I a, I b) { return _mm256_sub_epi32(a, b); }
  static I max(I a, I b) { return _mm256_max_epi32(a, b); }
  static I min(I a, I b) { return _mm256_min_epi32(a, b); }
  static I bit_and(I a, I b) { return _mm256_and_si256(a, b); }
  static I bit_or(I a, I b) { return _mm256_or_si256(a, b); }
  static I bit_xor(I a, I b) { return _mm256_xor_si256(a, b); }
  template <int n>
  static I shift_left(I a) {
    return _mm256_slli_epi32(a, n);
  }
  template <int n>
  static I shift_right(I a) {
    return _mm256_srli_epi32(a, n);
  }
  static bool any_negative(I a) { return _mm256_movemask_ps(as_float(a)) != 0; }

  static I add_bytes(I a, I b) { return _mm256_add_epi8(a, b); }
  static I max_bytes(I a, I b) { return _mm256_max_epi8(a, b); }
  // Sums that are hidden go to hidden_exponent.
  static I hide(I e) {
    const I visible = _mm256_cmpgt_epi8(e, _mm256_set1_epi8(largest_hidden_exponent));
    return _mm256_blendv_epi8(_mm256_set1_epi8(hidden_exponent), e, visible);
  }
  static I widen(const std::int8_t* p) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  static I halve(I a) { return _mm256_srai_epi32(a, 1); }  // toward minus infinity
  static I both_negative(I a, I b) { return _mm256_srai_epi32(bit_and(a, b), 31); }
  static I select(I mask, I yes, I no) { return _mm256_blendv_epi8(no, yes, mask); }
  static I select_zero(I x, I yes, I no) { return select(_mm256_cmpeq_epi32(x, zero()), yes, no); }

  // Of mxf4: sums of two products a lane of 16 bits, of bytes without and with a sign.
  static I add_byte_products(I sums, I a, I b) { return _mm256_add_epi16(sums, _mm256_maddubs_epi16(a, b)); }
  static I add_pairs(I x) { return _mm256_madd_epi16(x, _mm256_set1_epi16(1)); }

  static I dot_pairs(I a, I b) { return _mm256_madd_epi16(a, b); }
  static I popcount_bytes(I x) {
    const I table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                     0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const I nibble = _mm256_set1_epi8(15);
    return add_bytes(_mm256_shuffle_epi8(table, bit_and(x, nibble)),
                     _mm256_shuffle_epi8(table, bit_and(shift_right<4>(x), nibble)));
  }
  static I add_four_bytes(I x) {
    return _mm256_madd_epi16(_mm256_maddubs_epi16(x, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
  }
};

struct Avx2 : Avx2Integers {
  static F mul(F a, F b) { return _mm256_mul_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  static F add_float(F a, F b) { return _mm256_add_ps(a, b); }
  static F max_float(F a, F b) { return _mm256_max_ps(a, b); }
  static F min_float(F a, F b) { return _mm256_min_ps(a, b); }
  static I truncate(F a) { return _mm256_cvttps_epi32(a); }
  static F to_float(I a) { return _mm256_cvtepi32_ps(a); }
  static F or_lowest_bit_if_different(F x, I a, I b) {
    return as_float(bit_or(as_int(x), _mm256_andnot_si256(_mm256_cmpeq_epi32(a, b), set(1))));
  }

  static F round_to_zero(F x) { return _mm256_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
  static __m256d low_doubles(F x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
  static __m256d high_doubles(F x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); }
  static __m256d add_doubles(__m256d a, __m256d b) { return _mm256_add_pd(a, b); }
  static __m256d mul_doubles(__m256d a, __m256d b) { return _mm256_mul_pd(a, b); }
  static F from_doubles(__m256d low, __m256d high) {
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
  }
};

}  // namespace

void multiply_avx2(const Job& job) { run_job<Avx2>(job); }

}  // namespace palladion::sim::numerics::tc

namespace palladion::sim::numerics::tcgen05 {

void multiply_packed_avx2(const PackedJob& job) { run_packed_job<tc::Avx2>(job); }

}  // namespace palladion::sim::numerics::tcgen05
