// The special function unit, one element at a time: a table, a truncated squarer and one quadratic.
//
// All functions share the datapath a + b*x + c*sq(x) over a segment of the reduced argument (Oberman & Siu
// 2005); they differ in how the argument is reduced and how the result is rounded off. The sums need up to 44
// bits and are formed in doubles, which hold them exactly. Nothing here branches on values: a loop over lanes
// becomes vector code.
// `.ftz` is the unit's nature: it reads subnormals as zero and never returns one (tanh and the 16-bit forms
// differ).
#pragma once

#include <bit>
#include <cstdint>

#if defined(__GNUC__)
#define PLD_SFU_INLINE [[gnu::always_inline]] inline
#else
#define PLD_SFU_INLINE inline
#endif

namespace palladion::sim::numerics::sfu {

/// Coefficients by segment.
template <int segments>
struct SegmentTable {
  std::int32_t a[segments];
  std::int32_t b[segments];
  std::int32_t c[segments];
};

#include "sim/numerics/special_tables.inc"

inline constexpr std::uint32_t nan_bits = 0x7fffffff;
inline constexpr std::uint32_t inf_bits = 0x7f800000;
inline constexpr std::uint32_t sign_bit = 0x80000000;
inline constexpr std::uint32_t min_normal = 0x00800000;
inline constexpr std::uint32_t fraction_mask = 0x007fffff;

PLD_SFU_INLINE std::int32_t as_int(std::uint32_t x) { return static_cast<std::int32_t>(x); }
PLD_SFU_INLINE std::uint32_t as_uint(std::int32_t x) { return static_cast<std::uint32_t>(x); }
PLD_SFU_INLINE float as_float(std::uint32_t x) { return std::bit_cast<float>(x); }
PLD_SFU_INLINE std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
PLD_SFU_INLINE std::uint32_t magnitude(std::uint32_t x) { return x & ~sign_bit; }
PLD_SFU_INLINE bool is_nan(std::uint32_t x) { return magnitude(x) > inf_bits; }
/// Bitwise, because a conditional expression may come out as a branch and keep a loop over lanes from
/// vectorising.
PLD_SFU_INLINE std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = 0u - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}
PLD_SFU_INLINE std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

/// The unit's squarer, about t*t / 2^19 for t < 2^17: each partial product loses its low bits before the
/// addition.
PLD_SFU_INLINE std::int32_t truncated_square(std::uint32_t t) {
  std::uint32_t sum = 0;
#pragma GCC unroll 16
  for (int i = 2; i <= 16; ++i) sum += (t >> (18 - i)) & (0u - ((t >> i) & 1u));
  return as_int(sum >> 1);
}

struct Scales {
  double a, b, c;
};

/// a*A + b*B*x + c*C*sq in integers (x < 2^17), exact in a double.
template <int segments>
PLD_SFU_INLINE double quadratic(const SegmentTable<segments>& table, std::uint32_t segment, std::uint32_t x,
                                std::int32_t square, Scales s) {
  return s.a * table.a[segment] + s.b * table.b[segment] * as_int(x) + s.c * table.c[segment] * square;
}

/// A non-negative integer, at most 2^44, times 2^scale, truncated to 24 bits; 0 stays 0.
PLD_SFU_INLINE std::uint32_t truncate_to_f32(double value, int scale) {
  const std::uint64_t wide = std::bit_cast<std::uint64_t>(value) >> 29;
  const std::uint32_t packed =
      static_cast<std::uint32_t>(wide) - (static_cast<std::uint32_t>(1023 - 127 - scale) << 23);
  return select(value == 0.0, 0u, packed);
}

/// 1/m for m = 1.fraction: an integer in [2^23, 2^24], in units of 2^-24.
PLD_SFU_INLINE std::int32_t rcp_mantissa(std::uint32_t fraction) {
  const std::uint32_t x = fraction & 0xffff;
  const double sum = quadratic(rcp_table, fraction >> 16, x, truncated_square(2 * x), {0x1p13, 1, 1});
  return static_cast<std::int32_t>((sum + 0x47e7) * 0x1p-15);
}

/// 1/sqrt(m*2^odd) in units of 2^-24; `argument` is odd:fraction, 24 bits. One is exact.
PLD_SFU_INLINE std::int32_t rsqrt_mantissa(std::uint32_t argument) {
  const std::uint32_t x = argument & 0x1ffff;
  const double sum = quadratic(rsqrt_table, argument >> 17, x, truncated_square(x), {0x1p14, 1, 4});
  const auto y = static_cast<std::int32_t>((sum + 0x7fff) * 0x1p-16);
  return as_int(select(argument == 0, 1u << 24, as_uint(y)));
}

/// sqrt(m*2^odd) in units of 2^-23; `argument` as for rsqrt.
PLD_SFU_INLINE std::int32_t sqrt_mantissa(std::uint32_t argument) {
  const std::uint32_t x = argument & 0x1ffff;
  const double slope = as_int(1 + (argument >> 23));
  const double sum = quadratic(sqrt_table, argument >> 17, x, truncated_square(x), {0x1p15, slope, 2});
  return static_cast<std::int32_t>((sum + 0x7fff) * 0x1p-17);
}

PLD_SFU_INLINE std::uint32_t rcp(std::uint32_t x) {
  const std::uint32_t mag = magnitude(x), sign = x & sign_bit;
  const std::int32_t y = rcp_mantissa(x & fraction_mask);
  const std::int32_t r = (253 << 23) - as_int(mag & inf_bits) + (y - (1 << 23));
  std::uint32_t out = select(r < as_int(min_normal), 0u, as_uint(r));
  out = select(mag < min_normal, inf_bits, out);
  out = select(mag == inf_bits, 0u, out);
  return select(is_nan(x), nan_bits, out | sign);
}

/// The exponent's parity and the fraction of a normal number: what a square root depends on.
PLD_SFU_INLINE std::uint32_t root_argument(std::uint32_t x) { return (x & 0x00ffffff) ^ 0x00800000; }

PLD_SFU_INLINE std::uint32_t rsqrt(std::uint32_t x) {
  const std::uint32_t mag = magnitude(x), sign = x & sign_bit;
  const std::int32_t half_exponent = (as_int(mag >> 23) - 127) >> 1;
  const std::int32_t y = rsqrt_mantissa(root_argument(x));
  std::uint32_t out = as_uint(((126 - half_exponent) << 23) + (y - (1 << 23)));
  out = select(mag == inf_bits, 0u, out);
  out = select(x > inf_bits, nan_bits, out);  // NaNs and whatever is negative
  return select(mag < min_normal, inf_bits | sign, out);
}

PLD_SFU_INLINE std::uint32_t sqrt(std::uint32_t x) {
  const std::uint32_t mag = magnitude(x), sign = x & sign_bit;
  const std::int32_t half_exponent = (as_int(mag >> 23) - 127) >> 1;
  const std::int32_t y = sqrt_mantissa(root_argument(x));
  std::uint32_t out = as_uint(((127 + half_exponent) << 23) + (y - (1 << 23)));
  out = select(mag == inf_bits, inf_bits, out);
  out = select(x > inf_bits, nan_bits, out);
  return select(mag < min_normal, sign, out);
}

/// 2^(fraction/2^23) in units of 2^-23.
PLD_SFU_INLINE std::int32_t ex2_mantissa(std::uint32_t fraction) {
  const std::uint32_t x = fraction & 0x1ffff;
  const double sum = quadratic(ex2_table, fraction >> 17, x, truncated_square(x), {0x1p13, 1, 1});
  return static_cast<std::int32_t>((sum + 0x77e2) * 0x1p-15);
}

PLD_SFU_INLINE std::uint32_t ex2(std::uint32_t x) {
  const std::uint32_t mag = magnitude(x);
  const std::uint32_t negative = 0u - (x >> 31);  // all ones or all zeros
  // |x| in fixed point with 23 fraction bits, truncated; a negative argument is a one's complement.
  const std::uint32_t mantissa = ((x & fraction_mask) | min_normal) << 7;
  const std::uint32_t shift = 134u - smaller(mag >> 23, 133u);
  const std::uint32_t v = select(shift > 31, 0u, mantissa >> smaller(shift, 31u));
  const std::uint32_t f = v & fraction_mask;
  const std::uint32_t inexact = negative & (0u - static_cast<std::uint32_t>(f != 0));
  const std::uint32_t fraction = (f ^ inexact) & fraction_mask;
  const std::uint32_t whole = ((v >> 23) ^ negative) - negative;  // the sign applied
  const std::int32_t exponent = as_int(whole + inexact);          // and one less where a fraction is left
  const std::int32_t r = (127 + exponent) * (1 << 23) + (ex2_mantissa(fraction) - (1 << 23));
  std::uint32_t out = select(r < as_int(min_normal), 0u, as_uint(r));
  out = select(mag >= (134u << 23), inf_bits & ~negative, out);
  return select(is_nan(x), nan_bits, out);
}

PLD_SFU_INLINE std::uint32_t lg2(std::uint32_t x) {
  const std::uint32_t mag = magnitude(x), fraction = x & fraction_mask, t = x & 0x1ffff;
  const double sum = quadratic(lg2_table, fraction >> 17, t, truncated_square(t), {0x1p12, 1, 2}) + 0x3345;
  // floor(sum / 4), in units of 2^-36: moved by 3/8 the quotient rounds to it. (floor() would not vectorise.)
  const double log_mantissa = ((sum - 1.5) * 0.25 + 0x1.8p52) - 0x1.8p52;
  const double value = log_mantissa + 0x1p36 * (as_int(mag >> 23) - 127);
  const std::uint32_t positive = truncate_to_f32(value, -36);
  const std::uint32_t negative = truncate_to_f32(-value - 1, -36) | sign_bit;
  std::uint32_t out = select(value < 0, negative, positive);
  out = select(x == 0x3f800000, 0u, out);
  out = select(x == inf_bits, inf_bits, out);
  out = select(x > inf_bits, nan_bits, out);
  return select(mag < min_normal, inf_bits | sign_bit, out);
}

/// The range reduction that PTX' sin and cos begin with: x/2pi rounded to zero, as turns * 2^25 modulo one
/// turn, of |x|.
PLD_SFU_INLINE std::uint32_t phase_of(std::uint32_t x) {
  const double turns =
      static_cast<double>(as_float(magnitude(x))) * static_cast<double>(as_float(0x3e22f983));
  const std::uint64_t wide = std::bit_cast<std::uint64_t>(turns) >> 29;
  // The exponent, of bias 256 now, and the 23 bits that rounding to zero keeps.
  const std::uint32_t head = static_cast<std::uint32_t>(wide) - ((1023u - 256u) << 23);
  const std::uint32_t mantissa = select(magnitude(x) < min_normal, 0u, (head & fraction_mask) | min_normal);
  const std::int32_t left = as_int(head >> 23) - 254;
  const std::uint32_t shift = smaller(select(left < 0, as_uint(-left), as_uint(left)), 31u);
  return select(left < 0, mantissa >> shift, mantissa << shift) & 0x1ffffff;
}

template <bool cosine>
PLD_SFU_INLINE std::uint32_t sine(std::uint32_t x) {
  const std::uint32_t phase = phase_of(x) + (cosine ? 1u << 23 : 0u);
  const std::uint32_t quadrant = phase >> 23;
  const std::uint32_t f = (phase ^ (0u - (quadrant & 1u))) & fraction_mask;
  const std::uint32_t t = f & 0x1ffff;
  const double value = quadratic(sin_table, f >> 17, t, truncated_square(t), {0x1p11, 1, 1});
  const std::uint32_t sign = (cosine ? 0u : x & sign_bit) ^ ((quadrant & 2) << 30);
  const std::uint32_t out = truncate_to_f32(value, -37) | sign;
  return select(magnitude(x) >= inf_bits, nan_bits, out);
}

/// By binade from 2^-8 on: the log2 of its number of segments, and the first of them.
inline constexpr std::int32_t tanh_split[11] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3};
inline constexpr std::int32_t tanh_base[11] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};

/// tanh keeps small arguments as they are, subnormals too, and is 1 from 8 on.
PLD_SFU_INLINE std::uint32_t tanh(std::uint32_t x) {
  const std::uint32_t mag = magnitude(x), sign = x & sign_bit;
  const std::uint32_t fraction = mag & fraction_mask;
  // A binade has 2^split segments of 2^17 steps. Outside the table the result is replaced below.
  const std::uint32_t binade = smaller((mag >> 23) - 119u, 10u);
  const std::uint32_t split = as_uint(tanh_split[binade]);
  const std::uint32_t segment = as_uint(tanh_base[binade]) + (fraction >> (23 - split));
  const std::uint32_t t = (fraction >> (6 - split)) & 0x1ffff;
  const double value = quadratic(tanh_table, segment, t, truncated_square(t), {0x1p15, 1, 1});
  std::uint32_t out = truncate_to_f32(value, -39);
  out = select(mag < 119u << 23, mag, out);
  out = select(mag >= 130u << 23, 0x3f800000u, out);
  return select(is_nan(x), nan_bits, out | sign);
}

}  // namespace palladion::sim::numerics::sfu
