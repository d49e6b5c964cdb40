// PTX' approximate functions as the chip computes them, bit by bit (sm_90; measured on an H200).
//
// What this answers: the exact bit pattern of rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh `.approx`, of
// `div.approx` and `div.full`, of `rcp/rsqrt.approx[.ftz].f64` and of the f16, f16x2, bf16 and bf16x2 forms
// of ex2 and tanh. Names follow the PTX instruction. Scalar forms take and give bit patterns; `warp_wide`
// holds the same over 32 lanes, where `out` may be `in`. The one-operand f32 and f64 functions equal the
// device on all 2^32 inputs (f64: all 2^32 high words), the 16-bit ones on all 2^16
// (tests/sim/numerics/special_test.cpp). NaN results are 0x7fffffff and 0x7fff.
//
// Without `.ftz` ptxas wraps the unit in a scaling of the operand; what it emits for sm_90 is what is
// computed here.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/numerics/special_datapath.h"

namespace palladion::sim::numerics {
namespace sfu {

/// The multiply that surrounds the unit: round to nearest, canonical NaN.
PLD_SFU_INLINE std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t product = bits(as_float(a) * as_float(b));
  return select(is_nan(product), nan_bits, product);
}
PLD_SFU_INLINE std::uint32_t flush(std::uint32_t x) {
  return select(magnitude(x) < min_normal, x & sign_bit, x);
}

/// `.ftz` flushes what would round below the smallest normal number if exponents had no end (measured: fma
/// and mul).
PLD_SFU_INLINE std::uint32_t multiply_ftz(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t x = flush(a), y = flush(b);
  const double exact = static_cast<double>(as_float(x)) * static_cast<double>(as_float(y));
  const bool tiny = std::fabs(exact) < 0x1p-126 - 0x1p-151;
  return select(tiny, (x ^ y) & sign_bit, multiply(x, y));
}

inline constexpr std::uint32_t one = 0x3f800000;
inline constexpr std::uint32_t quarter = 0x3e800000;
inline constexpr std::uint32_t two_24 = 0x4b800000;
inline constexpr std::uint32_t two_12 = 0x45800000;
inline constexpr std::uint32_t two_minus_12 = 0x39800000;
inline constexpr std::uint32_t two_126 = 0x7e800000;

PLD_SFU_INLINE bool is_subnormal_or_zero(std::uint32_t x) { return magnitude(x) < min_normal; }

/// 2^126 < |x|, NaN excepted.
PLD_SFU_INLINE bool is_huge(std::uint32_t x) { return (magnitude(x) > two_126) & (magnitude(x) <= inf_bits); }

}  // namespace sfu

// --- f32
// ---------------------------------------------------------------------------------------------------------

PLD_SFU_INLINE std::uint32_t rcp_approx_ftz_f32(std::uint32_t x) { return sfu::rcp(x); }
PLD_SFU_INLINE std::uint32_t rsqrt_approx_ftz_f32(std::uint32_t x) { return sfu::rsqrt(x); }
PLD_SFU_INLINE std::uint32_t sqrt_approx_ftz_f32(std::uint32_t x) { return sfu::sqrt(x); }
PLD_SFU_INLINE std::uint32_t ex2_approx_ftz_f32(std::uint32_t x) { return sfu::ex2(x); }
PLD_SFU_INLINE std::uint32_t lg2_approx_ftz_f32(std::uint32_t x) { return sfu::lg2(x); }
PLD_SFU_INLINE std::uint32_t sin_approx_ftz_f32(std::uint32_t x) { return sfu::sine<false>(x); }
PLD_SFU_INLINE std::uint32_t cos_approx_ftz_f32(std::uint32_t x) { return sfu::sine<true>(x); }
PLD_SFU_INLINE std::uint32_t sin_approx_f32(std::uint32_t x) { return sfu::sine<false>(x); }
PLD_SFU_INLINE std::uint32_t cos_approx_f32(std::uint32_t x) { return sfu::sine<true>(x); }
PLD_SFU_INLINE std::uint32_t tanh_approx_f32(std::uint32_t x) { return sfu::tanh(x); }

PLD_SFU_INLINE std::uint32_t rcp_approx_f32(std::uint32_t x) {
  using namespace sfu;
  std::uint32_t scale = select(is_subnormal_or_zero(x), two_24, one);
  scale = select(is_huge(x), quarter, scale);
  return multiply(rcp(multiply(x, scale)), scale);
}

PLD_SFU_INLINE std::uint32_t rsqrt_approx_f32(std::uint32_t x) {
  using namespace sfu;
  const bool small = is_subnormal_or_zero(x);
  const std::uint32_t r = rsqrt(select(small, multiply(x, two_24), x));
  return select(small, multiply(r, two_12), r);
}

PLD_SFU_INLINE std::uint32_t sqrt_approx_f32(std::uint32_t x) {
  using namespace sfu;
  const bool small = is_subnormal_or_zero(x);
  const std::uint32_t r = sqrt(select(small, multiply(x, two_24), x));
  return select(small, multiply(r, two_minus_12), r);
}

/// Below -126 the unit's result would flush: the half power is squared instead.
PLD_SFU_INLINE std::uint32_t ex2_approx_f32(std::uint32_t x) {
  using namespace sfu;
  const bool small = (x > 0xc2fc0000) & (x <= (inf_bits | sign_bit));
  const std::uint32_t r = ex2(select(small, multiply(x, 0x3f000000), x));
  return select(small, multiply(r, r), r);
}

PLD_SFU_INLINE std::uint32_t lg2_approx_f32(std::uint32_t x) {
  using namespace sfu;
  const bool small = is_subnormal_or_zero(x);
  const std::uint32_t r = lg2(select(small, multiply(x, two_24), x));
  const std::uint32_t shifted = bits(as_float(r) - 24.0f);
  return select(small & !is_nan(r), shifted, r);
}

PLD_SFU_INLINE std::uint32_t div_approx_ftz_f32(std::uint32_t a, std::uint32_t b) {
  return sfu::multiply_ftz(sfu::rcp(b), a);
}

PLD_SFU_INLINE std::uint32_t div_approx_f32(std::uint32_t a, std::uint32_t b) {
  using namespace sfu;
  const std::uint32_t scale = select(is_subnormal_or_zero(b), two_24, one);
  return multiply(rcp(multiply(b, scale)), multiply(a, scale));
}

PLD_SFU_INLINE std::uint32_t div_full_ftz_f32(std::uint32_t a, std::uint32_t b) {
  using namespace sfu;
  const bool huge = is_huge(b);
  const std::uint32_t scaled_a = select(huge, multiply_ftz(a, quarter), a);
  const std::uint32_t scaled_b = select(huge, multiply_ftz(b, quarter), b);
  return multiply_ftz(rcp(scaled_b), scaled_a);
}

PLD_SFU_INLINE std::uint32_t div_full_f32(std::uint32_t a, std::uint32_t b) {
  using namespace sfu;
  std::uint32_t scale = select(is_subnormal_or_zero(b), two_24, one);
  scale = select(is_huge(b), quarter, scale);
  return multiply(rcp(multiply(b, scale)), multiply(a, scale));
}

// --- f64: the unit sees the high word only and answers with one
// ----------------------------------------------------

PLD_SFU_INLINE std::uint64_t rcp_approx_ftz_f64(std::uint64_t x) {
  using namespace sfu;
  const auto high = static_cast<std::uint32_t>(x >> 32);
  const std::uint32_t mag = magnitude(high), fraction = (high & 0x000fffff) << 3;
  const std::int32_t y = rcp_mantissa(fraction) - (1 << 23);
  const std::int32_t r = (2045 << 20) - as_int(mag & 0x7ff00000) + (y >> 3);
  std::uint32_t out = select(r < 0x00100000, 0u, as_uint(r));
  out = select(mag < 0x00100000, 0x7ff00000u, out);
  out = select(mag == 0x7ff00000, 0u, out);
  out = select(mag > 0x7ff00000, nan_bits, out | (high & sign_bit));
  return std::uint64_t{out} << 32;
}

PLD_SFU_INLINE std::uint64_t rsqrt_approx_ftz_f64(std::uint64_t x) {
  using namespace sfu;
  const auto high = static_cast<std::uint32_t>(x >> 32);
  const std::uint32_t mag = magnitude(high);
  const std::uint32_t odd = (~high >> 20) & 1;  // the bias is odd
  const std::int32_t y = rsqrt_mantissa(odd << 23 | (high & 0x000fffff) << 3) - (1 << 23);
  const std::int32_t half_exponent = (as_int(mag >> 20) - 1023) >> 1;
  std::uint32_t out = as_uint(((1022 - half_exponent) << 20) + (y >> 3));
  out = select(mag == 0x7ff00000, 0u, out);
  out = select(high > 0x7ff00000, nan_bits, out);
  out = select(mag < 0x00100000, 0x7ff00000u | (high & sign_bit), out);
  return std::uint64_t{out} << 32;
}

/// The unit's estimate and one step of third order; subnormals are scaled by 2^54.
inline std::uint64_t rsqrt_approx_f64(std::uint64_t x) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63, inf = std::uint64_t{0x7ff} << 52;
  const std::uint64_t mag = x & ~sign;
  if (mag == 0) return x | inf;
  if (mag > inf) return x | std::uint64_t{1} << 51;
  if (x & sign) return 0xfff8000000000000;
  if (mag == inf) return 0;
  const bool subnormal = mag < std::uint64_t{1} << 52;
  const double value = std::bit_cast<double>(x) * (subnormal ? 0x1p54 : 1.0);
  const double y = std::bit_cast<double>(rsqrt_approx_ftz_f64(std::bit_cast<std::uint64_t>(value)));
  const double error = std::fma(-(y * y), value, 1.0);
  const double result = std::fma(std::fma(error, 0.375, 0.5), y * error, y);
  return std::bit_cast<std::uint64_t>(subnormal ? result * 0x1p27 : result);
}

// --- f16 and bf16: the f32 unit, its result truncated
// --------------------------------------------------------------

namespace sfu {

PLD_SFU_INLINE std::uint32_t f32_of_f16(std::uint32_t h) {
  // Moving the fields up and multiplying by 2^112 converts subnormals, too.
  const std::uint32_t finite = bits(as_float((h & 0x7fffu) << 13) * 0x1p112f);
  const std::uint32_t special = 0x7f800000u | (h & 0x3ffu) << 13;
  return select((h & 0x7c00u) == 0x7c00u, special, finite) | (h & 0x8000u) << 16;
}

/// Truncation; what exceeds the format becomes infinity, not the largest number.
PLD_SFU_INLINE std::uint32_t f16_by_truncation(std::uint32_t x) {
  const std::uint32_t mag = magnitude(x), exponent = mag >> 23;
  const std::uint32_t shift = smaller(126u - smaller(exponent, 113u), 31u);
  const std::uint32_t tiny = ((mag & fraction_mask) | min_normal) >> shift;
  std::uint32_t out = select(exponent < 113, tiny, (mag >> 13) - (112u << 10));
  out = select(exponent >= 143, 0x7c00u, out);
  return select(is_nan(x), 0x7fffu, out | (x >> 16 & 0x8000u));
}

PLD_SFU_INLINE std::uint32_t bf16_by_truncation(std::uint32_t x) {
  return select(is_nan(x), 0x7fffu, x >> 16);
}

template <auto fn>
PLD_SFU_INLINE std::uint32_t both_halves(std::uint32_t x) {
  return fn(x & 0xffffu) | fn(x >> 16) << 16;
}

PLD_SFU_INLINE std::uint32_t ex2_f16(std::uint32_t h) { return f16_by_truncation(ex2(f32_of_f16(h))); }
PLD_SFU_INLINE std::uint32_t tanh_f16(std::uint32_t h) { return f16_by_truncation(tanh(f32_of_f16(h))); }
PLD_SFU_INLINE std::uint32_t ex2_bf16(std::uint32_t h) { return bf16_by_truncation(ex2(h << 16)); }
PLD_SFU_INLINE std::uint32_t tanh_bf16(std::uint32_t h) { return bf16_by_truncation(tanh(h << 16)); }

}  // namespace sfu

PLD_SFU_INLINE std::uint16_t ex2_approx_f16(std::uint16_t h) {
  return static_cast<std::uint16_t>(sfu::ex2_f16(h));
}
PLD_SFU_INLINE std::uint16_t tanh_approx_f16(std::uint16_t h) {
  return static_cast<std::uint16_t>(sfu::tanh_f16(h));
}
PLD_SFU_INLINE std::uint16_t ex2_approx_ftz_bf16(std::uint16_t h) {
  return static_cast<std::uint16_t>(sfu::ex2_bf16(h));
}
PLD_SFU_INLINE std::uint16_t tanh_approx_bf16(std::uint16_t h) {
  return static_cast<std::uint16_t>(sfu::tanh_bf16(h));
}
PLD_SFU_INLINE std::uint32_t ex2_approx_f16x2(std::uint32_t h) { return sfu::both_halves<sfu::ex2_f16>(h); }
PLD_SFU_INLINE std::uint32_t tanh_approx_f16x2(std::uint32_t h) { return sfu::both_halves<sfu::tanh_f16>(h); }
PLD_SFU_INLINE std::uint32_t ex2_approx_ftz_bf16x2(std::uint32_t h) {
  return sfu::both_halves<sfu::ex2_bf16>(h);
}
PLD_SFU_INLINE std::uint32_t tanh_approx_bf16x2(std::uint32_t h) {
  return sfu::both_halves<sfu::tanh_bf16>(h);
}

// --- 32 lanes
// --------------------------------------------------------------------------------------------------------

namespace warp_wide {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

void rcp_approx_f32(const U32* in, U32* out);
void rcp_approx_ftz_f32(const U32* in, U32* out);
void rsqrt_approx_f32(const U32* in, U32* out);
void rsqrt_approx_ftz_f32(const U32* in, U32* out);
void sqrt_approx_f32(const U32* in, U32* out);
void sqrt_approx_ftz_f32(const U32* in, U32* out);
void ex2_approx_f32(const U32* in, U32* out);
void ex2_approx_ftz_f32(const U32* in, U32* out);
void lg2_approx_f32(const U32* in, U32* out);
void lg2_approx_ftz_f32(const U32* in, U32* out);
void sin_approx_f32(const U32* in, U32* out);  // the same with .ftz
void cos_approx_f32(const U32* in, U32* out);  // the same with .ftz
void tanh_approx_f32(const U32* in, U32* out);

void div_approx_f32(const U32* a, const U32* b, U32* out);
void div_approx_ftz_f32(const U32* a, const U32* b, U32* out);
void div_full_f32(const U32* a, const U32* b, U32* out);
void div_full_ftz_f32(const U32* a, const U32* b, U32* out);

void rcp_approx_ftz_f64(const U64* in, U64* out);
void rsqrt_approx_ftz_f64(const U64* in, U64* out);
void rsqrt_approx_f64(const U64* in, U64* out);

void ex2_approx_f16(const U16* in, U16* out);
void tanh_approx_f16(const U16* in, U16* out);
void ex2_approx_ftz_bf16(const U16* in, U16* out);
void tanh_approx_bf16(const U16* in, U16* out);
void ex2_approx_f16x2(const U32* in, U32* out);
void tanh_approx_f16x2(const U32* in, U32* out);
void ex2_approx_ftz_bf16x2(const U32* in, U32* out);
void tanh_approx_bf16x2(const U32* in, U32* out);

}  // namespace warp_wide
}  // namespace palladion::sim::numerics
