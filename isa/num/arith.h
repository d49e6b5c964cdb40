// PTX' floating-point arithmetic on bit patterns, bit-exact in every rounding mode.
//
// Forms for f32, f16 and bf16 are free of branches on values, so that a loop over lanes vectorises.
// NaN results are canonical (f32 0x7FFFFFFF, f16/bf16 0x7FFF); f64 keeps an operand's payload (`nan_f64`).
// What the modifiers mean: `.ftz` flushes subnormal operands, and results that would be below the smallest
// normal number when rounded with an unbounded exponent (as x86 does; measured on an H200), to zero of their
// sign; `.sat` clamps to [+0, 1] with NaN -> +0, `.relu` makes negative values (and -0) +0 and keeps
// NaN.
#pragma once

#include "isa/num/soft.h"

namespace palladion::isa::num {

struct ArithMods {
  Rounding rounding = Rounding::rn;
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  friend constexpr bool operator==(ArithMods, ArithMods) = default;
};

/// Calls `fn.template operator()<M>()` with the modifiers as a constant. f16 and bf16 have only rn; f64 has
/// no ftz.
template <class Fn>
PLD_NUM_INLINE decltype(auto) with_mods(ArithMods m, Fn&& fn) {
  return with_rounding(m.rounding, [&]<Rounding R>() -> decltype(auto) {
    if (m.relu) {
      if (m.ftz) return fn.template operator()<ArithMods{R, true, false, true}>();
      return fn.template operator()<ArithMods{R, false, false, true}>();
    }
    if (m.ftz && m.sat) return fn.template operator()<ArithMods{R, true, true}>();
    if (m.ftz) return fn.template operator()<ArithMods{R, true, false}>();
    if (m.sat) return fn.template operator()<ArithMods{R, false, true}>();
    return fn.template operator()<ArithMods{R}>();
  });
}

namespace detail {

template <class F>
PLD_NUM_INLINE constexpr bits_of<F> canonical(bits_of<F> b) {
  return is_nan<F>(b) ? F::canonical_nan : b;
}

/// `.sat` on any IEEE format, as integers: the order of patterns is the order of non-negative numbers.
template <class F>
PLD_NUM_INLINE constexpr bits_of<F> saturate(bits_of<F> b) {
  const bits_of<F> capped = b > F::one ? F::one : b;
  return is_nan<F>(b) || is_negative<F>(b) ? bits_of<F>{0} : capped;
}

template <class F>
PLD_NUM_INLINE constexpr bits_of<F> relu(bits_of<F> b) {
  return is_negative<F>(b) ? bits_of<F>{0} : b;
}

template <class F, ArithMods M>
PLD_NUM_INLINE constexpr bits_of<F> operand(bits_of<F> b) {
  if constexpr (M.ftz) return flush_subnormal<F>(b);
  return b;
}

/// Last steps of every operation; NaN is canonical already.
template <class F, ArithMods M>
PLD_NUM_INLINE constexpr bits_of<F> finish(bits_of<F> b) {
  if constexpr (M.ftz) b = flush_subnormal<F>(b);
  if constexpr (M.sat) b = saturate<F>(b);
  if constexpr (M.relu) b = relu<F>(b);
  return b;
}

PLD_NUM_INLINE float f32_value(std::uint32_t b) { return std::bit_cast<float>(b); }
PLD_NUM_INLINE double f64_value(std::uint64_t b) { return std::bit_cast<double>(b); }

/// An exactly cancelled sum is -0 in round-down, if any addend is negative; other values pass.
template <Rounding R>
PLD_NUM_INLINE double with_zero_sign(double sum, bool any_negative) {
  if constexpr (R == Rounding::rm) return magnitude_bits(sum) == 0 && any_negative ? -0.0 : sum;
  return sum;
}

/// The bare instruction: std::sqrt would test for errno.
PLD_NUM_INLINE float sqrt_nearest(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }
PLD_NUM_INLINE double sqrt_nearest(double x) {
  return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)));
}

}  // namespace detail

/// Result of an f64 operation that has a NaN operand (made quiet) or is invalid (the default NaN). The unit
/// prefers the second operand, then the third, then the first: measured on an H200.
constexpr std::uint64_t nan_f64(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0) {
  constexpr std::uint64_t quiet = std::uint64_t{1} << 51;
  if (is_nan<F64>(b)) return b | quiet;
  if (is_nan<F64>(c)) return c | quiet;
  if (is_nan<F64>(a)) return a | quiet;
  return F64::canonical_nan;
}

namespace detail {

enum class Op : std::uint8_t { add, sub, mul, fma, div, sqrt };

/// Division is a routine of ptxas and checks the dividend first.
template <Op O>
constexpr std::uint64_t nan_result_f64(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return O == Op::div ? nan_f64(b, a) : nan_f64(a, b, O == Op::fma ? c : 0);
}

template <Op O, ArithMods M>
PLD_NUM_INLINE std::uint32_t f32_nearest(float a, float b, float c) {
  float r = 0;
  if constexpr (O == Op::add) r = a + b;
  if constexpr (O == Op::sub) r = a - b;
  if constexpr (O == Op::mul) r = a * b;
  if constexpr (O == Op::fma) r = std::fma(a, b, c);
  if constexpr (O == Op::div) r = a / b;
  if constexpr (O == Op::sqrt) r = sqrt_nearest(a);
  const auto bits = std::bit_cast<std::uint32_t>(r);
  return r != r ? F32::canonical_nan : bits;
}

/// Directed rounding: the exact value, or its rounding to odd, in f64 decides which neighbour is right.
template <Op O, ArithMods M>
PLD_NUM_INLINE std::uint32_t f32_directed(float a, float b, float c) {
  const double wide_a = a;
  const double wide_b = b;
  if constexpr (O == Op::div || O == Op::sqrt) {
    const float nearest = O == Op::div ? a / b : sqrt_nearest(a);
    const double product =
        static_cast<double>(nearest) * (O == Op::div ? wide_b : static_cast<double>(nearest));
    const auto bits = std::bit_cast<std::uint32_t>(nearest);
    const std::uint32_t moved = adjust<std::uint32_t, M.rounding>(
        bits, std::fabs(product) > std::fabs(wide_a), std::fabs(product) < std::fabs(wide_a));
    return nearest != nearest ? F32::canonical_nan : moved;
  } else {
    double exact = wide_a * wide_b;
    if constexpr (O != Op::mul) {
      const double left = O == Op::fma ? exact : wide_a;
      const double right = O == Op::fma ? static_cast<double>(c) : O == Op::add ? wide_b : -wide_b;
      exact = with_zero_sign<M.rounding>(odd_sum(left, right), std::signbit(left) || std::signbit(right));
    }
    return encode_f64<F32, M.rounding>(exact);
  }
}

template <Op O, ArithMods M>
PLD_NUM_INLINE std::uint32_t f32_rounded(float a, float b, float c) {
  if constexpr (M.rounding == Rounding::rn) {
    return f32_nearest<O, M>(a, b, c);
  } else {
    return f32_directed<O, M>(a, b, c);
  }
}

/// `.ftz` of a result. The same operation 2^32 times larger gives what it would be with an unbounded
/// exponent: where it overflows, the result is nowhere near 2^-126. Sums of f32 are exact below 2^-126, roots
/// never are there.
template <Op O, ArithMods M>
PLD_NUM_INLINE std::uint32_t f32_flushed(std::uint32_t rounded, float a, float b, float c) {
  if constexpr (O != Op::mul && O != Op::fma && O != Op::div) return flush_subnormal<F32>(rounded);
  constexpr float scale = 0x1p32F;
  constexpr auto smallest_normal = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(0x1p-126F * scale));
  const std::uint32_t scaled = f32_rounded<O, M>(a * scale, b, O == Op::fma ? c * scale : c);
  const bool tiny = static_cast<std::int32_t>(scaled & F32::magnitude_mask) < smallest_normal;
  return rounded & (tiny ? F32::sign_mask : ~0U);
}

constexpr ArithMods without_ftz(ArithMods m) { return {m.rounding, false, m.sat, m.relu}; }

template <Op O, ArithMods M>
PLD_NUM_INLINE std::uint32_t f32_op(std::uint32_t a_bits, std::uint32_t b_bits, std::uint32_t c_bits) {
  const float a = f32_value(operand<F32, M>(a_bits));
  const float b = f32_value(operand<F32, M>(b_bits));
  const float c = f32_value(operand<F32, M>(c_bits));
  std::uint32_t r = f32_rounded<O, M>(a, b, c);
  if constexpr (M.ftz) r = f32_flushed<O, M>(r, a, b, c);
  return finish<F32, without_ftz(M)>(r);
}

template <Op O, Rounding R>
std::uint64_t f64_directed(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (is_nan<F64>(a) || is_nan<F64>(b) || is_nan<F64>(c)) return nan_result_f64<O>(a, b, c);
  std::optional<std::uint64_t> r;
  if constexpr (O == Op::add) r = soft::add<F64, R>(a, b);
  if constexpr (O == Op::sub) r = soft::add<F64, R>(a, b ^ F64::sign_mask);
  if constexpr (O == Op::mul) r = soft::mul<F64, R>(a, b);
  if constexpr (O == Op::fma) r = soft::fma<F64, R>(a, b, c);
  if constexpr (O == Op::div) r = soft::div<F64, R>(a, b);
  if constexpr (O == Op::sqrt) r = soft::sqrt<F64, R>(a);
  return r.value_or(F64::canonical_nan);
}

template <Op O, ArithMods M>
PLD_NUM_INLINE std::uint64_t f64_op(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  static_assert(!M.ftz, "f64 has no .ftz");
  if constexpr (M.rounding != Rounding::rn) {
    return finish<F64, M>(f64_directed<O, M.rounding>(a, b, c));
  } else {
    double r = 0;
    if constexpr (O == Op::add) r = f64_value(a) + f64_value(b);
    if constexpr (O == Op::sub) r = f64_value(a) - f64_value(b);
    if constexpr (O == Op::mul) r = f64_value(a) * f64_value(b);
    if constexpr (O == Op::fma) r = std::fma(f64_value(a), f64_value(b), f64_value(c));
    if constexpr (O == Op::div) r = f64_value(a) / f64_value(b);
    if constexpr (O == Op::sqrt) r = sqrt_nearest(f64_value(a));
    return finish<F64, M>(r != r ? nan_result_f64<O>(a, b, c) : std::bit_cast<std::uint64_t>(r));
  }
}

/// f16: sums and products in f32 have enough bits that rounding twice equals rounding once (24 >= 2 * 11 +
/// 2); a fused sum does not, so it is rounded to odd first.
template <Op O>
PLD_NUM_INLINE std::uint32_t f16_wide(float a, float b, float c) {
  if constexpr (O == Op::add) return std::bit_cast<std::uint32_t>(a + b);
  if constexpr (O == Op::sub) return std::bit_cast<std::uint32_t>(a - b);
  if constexpr (O == Op::mul) return std::bit_cast<std::uint32_t>(a * b);
  if constexpr (O == Op::fma) return std::bit_cast<std::uint32_t>(odd_sum(a * b, c));
}

/// Below this magnitude an f32 is below 2^-14 when rounded to 11 bits: half a unit, at 2^-15, under 2^-14.
inline constexpr std::uint32_t f16_tiny_below = std::bit_cast<std::uint32_t>(0x1p-14F - 0x1p-26F);

PLD_NUM_INLINE constexpr std::uint32_t flush_tiny_f16(std::uint32_t wide) {
  const auto magnitude = static_cast<std::int32_t>(wide & F32::magnitude_mask);
  return wide & (magnitude < static_cast<std::int32_t>(f16_tiny_below) ? F32::sign_mask : ~0U);
}

/// bf16: products need f64, because f32 would round subnormal ones itself.
template <Op O>
PLD_NUM_INLINE std::uint16_t bf16_result(float a, float b, float c) {
  if constexpr (O == Op::add) return encode_f32<Bf16>(std::bit_cast<std::uint32_t>(a + b));
  if constexpr (O == Op::sub) return encode_f32<Bf16>(std::bit_cast<std::uint32_t>(a - b));
  const double product = static_cast<double>(a) * static_cast<double>(b);
  if constexpr (O == Op::mul) return encode_f64<Bf16>(product);
  if constexpr (O == Op::fma) return encode_f64<Bf16>(odd_sum(product, static_cast<double>(c)));
}

template <class F, Op O, ArithMods M>
PLD_NUM_INLINE bits_of<F> half_op(bits_of<F> a, bits_of<F> b, bits_of<F> c) {
  static_assert(M.rounding == Rounding::rn, "f16 and bf16 arithmetic is .rn only");
  const float wide_a = to_float<F>(operand<F, M>(a));
  const float wide_b = to_float<F>(operand<F, M>(b));
  const float wide_c = to_float<F>(operand<F, M>(c));
  if constexpr (std::is_same_v<F, F16>) {
    std::uint32_t wide = f16_wide<O>(wide_a, wide_b, wide_c);
    if constexpr (M.ftz) wide = flush_tiny_f16(wide);
    return finish<F, without_ftz(M)>(encode_f32<F16>(wide));
  } else {
    return finish<F, M>(bf16_result<O>(wide_a, wide_b, wide_c));
  }
}

template <class F, Op O, ArithMods M>
PLD_NUM_INLINE bits_of<F> op(bits_of<F> a, bits_of<F> b, bits_of<F> c) {
  if constexpr (std::is_same_v<F, F32>) {
    return f32_op<O, M>(a, b, c);
  } else if constexpr (std::is_same_v<F, F64>) {
    return f64_op<O, M>(a, b, c);
  } else {
    return half_op<F, O, M>(a, b, c);
  }
}

}  // namespace detail

/// F is F16, Bf16, F32 or F64.
template <class F, ArithMods M = ArithMods{}>
PLD_NUM_INLINE bits_of<F> add(bits_of<F> a, bits_of<F> b) {
  return detail::op<F, detail::Op::add, M>(a, b, 0);
}
template <class F, ArithMods M = ArithMods{}>
PLD_NUM_INLINE bits_of<F> sub(bits_of<F> a, bits_of<F> b) {
  return detail::op<F, detail::Op::sub, M>(a, b, 0);
}
template <class F, ArithMods M = ArithMods{}>
PLD_NUM_INLINE bits_of<F> mul(bits_of<F> a, bits_of<F> b) {
  return detail::op<F, detail::Op::mul, M>(a, b, 0);
}
/// a * b + c, rounded once (also `mad` of f32 and f64).
template <class F, ArithMods M = ArithMods{}>
PLD_NUM_INLINE bits_of<F> fma(bits_of<F> a, bits_of<F> b, bits_of<F> c) {
  return detail::op<F, detail::Op::fma, M>(a, b, c);
}
/// F is F32 or F64 from here to `sqrt`: PTX has no correctly rounded division of halves.
template <class F, ArithMods M = ArithMods{}>
PLD_NUM_INLINE bits_of<F> div(bits_of<F> a, bits_of<F> b) {
  static_assert(F::width >= 32);
  return detail::op<F, detail::Op::div, M>(a, b, 0);
}
template <class F, ArithMods M = ArithMods{}>
PLD_NUM_INLINE bits_of<F> rcp(bits_of<F> a) {
  return div<F, M>(F::one, a);
}
template <class F, ArithMods M = ArithMods{}>
PLD_NUM_INLINE bits_of<F> sqrt(bits_of<F> a) {
  static_assert(F::width >= 32);
  return detail::op<F, detail::Op::sqrt, M>(a, 0, 0);
}

}  // namespace palladion::isa::num
