// Rounding: the one exact core, and branch-free forms of it for f32 and f64 sources.
//
// Nothing here reads or sets the host's rounding mode; the host is assumed to be in its default (nearest
// even).
#pragma once

#include <cmath>

#include "isa/num/constant.h"
#include "isa/num/formats.h"

namespace palladion::isa::num {

/// PTX' words. `rna` (nearest, ties away) exists for tf32 only.
enum class Rounding : std::uint8_t { rn, rz, rm, rp, rna };

/// Calls `fn.template operator()<R>()` with the rounding as a constant: hoists the choice out of a lane loop.
template <class Fn>
PLD_NUM_INLINE auto with_rounding(Rounding rounding, Fn&& fn) {
  using enum Rounding;
  return with_constant<rn, rz, rm, rp, rna>(rounding, fn);
}

/// Whether the magnitude grows by one unit. `half`: the first dropped bit; `rest`: anything below it.
template <Rounding R>
constexpr bool rounds_up(bool negative, bool odd, bool half, bool rest) {
  if constexpr (R == Rounding::rn) return half && (rest || odd);
  if constexpr (R == Rounding::rna) return half;
  if constexpr (R == Rounding::rm) return negative && (half || rest);
  if constexpr (R == Rounding::rp) return !negative && (half || rest);
  return false;
}

/// Magnitude (without padding) of a result beyond the largest finite number.
template <class F, Rounding R>
constexpr std::uint64_t overflow_magnitude(bool negative, bool satfinite) {
  const bool to_max =
      satfinite || R == Rounding::rz || (R == Rounding::rm && !negative) || (R == Rounding::rp && negative);
  if (to_max || F::nan_rule == NanRule::none) return F::max_magnitude;
  return F::has_inf ? F::inf_magnitude : F::max_magnitude + 1;  // e4m3 without satfinite: NaN
}

template <class F>
constexpr bits_of<F> with_sign(bool negative, std::uint64_t magnitude) {
  return static_cast<bits_of<F>>(static_cast<bits_of<F>>(magnitude << F::pad) |
                                 (negative ? F::sign_mask : bits_of<F>{0}));
}

/// The core: rounds (sig + something in (0,1) if sticky) * 2^exp once. `sig` == 0 without sticky gives zero.
template <class F, Rounding R>
constexpr bits_of<F> round_pack(bool negative, int exp, std::uint64_t sig, bool sticky,
                                bool satfinite = false) {
  if (sig == 0) {
    if (!sticky) return with_sign<F>(negative, 0);
    return with_sign<F>(negative,
                        rounds_up<R>(negative, false, false, true) ? 1 : 0);  // exp is far below emin
  }
  const int shift = std::countl_zero(sig);
  sig <<= shift;
  const int e = exp - shift + 63;  // value = 1.xxx * 2^e
  if (e > F::emax) return with_sign<F>(negative, overflow_magnitude<F, R>(negative, satfinite));
  const int below = e < F::emin ? F::emin - e : 0;
  const int drop = 63 - F::man_bits + below;
  const std::uint64_t kept = drop > 63 ? 0 : sig >> drop;
  const bool half = drop > 64 ? false : (sig >> (drop - 1) & 1) != 0;
  const bool rest = sticky || (drop > 64 ? true : (sig & ((std::uint64_t{1} << (drop - 1)) - 1)) != 0);
  const auto biased =
      static_cast<std::uint64_t>(e - F::emin + below);  // NOLINT: 0 for the smallest normals and subnormals
  const std::uint64_t magnitude =
      (biased << F::man_bits) + kept + (rounds_up<R>(negative, kept & 1, half, rest) ? 1 : 0);
  if (magnitude > F::max_magnitude)
    return with_sign<F>(negative, overflow_magnitude<F, R>(negative, satfinite));
  return with_sign<F>(negative, magnitude);
}

namespace detail {

/// Moves a nearest-rounded result by one unit where the exact magnitude requires it in mode R.
/// `too_big` / `too_small`: |result| against the exact magnitude. One step from infinity is the largest
/// number.
template <class Bits, Rounding R>
PLD_NUM_INLINE constexpr Bits adjust(Bits nearest, bool too_big, bool too_small) {
  constexpr Bits sign_mask = Bits{1} << (sizeof(Bits) * 8 - 1);
  const bool negative = (nearest & sign_mask) != 0;
  if constexpr (R == Rounding::rz) return nearest - (too_big ? Bits{1} : Bits{0});
  if constexpr (R == Rounding::rm || R == Rounding::rp) {
    const bool outward = negative == (R == Rounding::rm);
    const Bits up = outward && too_small ? Bits{1} : Bits{0};
    const Bits down = !outward && too_big ? Bits{1} : Bits{0};
    return nearest + up - down;
  }
  return nearest;
}

// Magnitudes are compared as integers: a comparison of floats may trap, which keeps GCC from vectorising.
PLD_NUM_INLINE std::int64_t magnitude_bits(double x) {
  return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x) & F64::magnitude_mask);
}
PLD_NUM_INLINE std::int32_t magnitude_bits(float x) {
  return static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(x) & F32::magnitude_mask);
}

/// Rounds to odd: truncates, then sets the last bit if anything was lost. A later rounding to a format
/// with at least two bits less is then as if done once (Boldo and Melquiond). NaN: unspecified.
PLD_NUM_INLINE std::uint32_t odd_f32_bits(double x) {
  const auto nearest = static_cast<float>(x);
  const std::int64_t back = magnitude_bits(static_cast<double>(nearest));
  const std::uint32_t lost = back > magnitude_bits(x) ? 1u : 0u;
  const std::uint32_t inexact = back != magnitude_bits(x) ? 1u : 0u;
  return (std::bit_cast<std::uint32_t>(nearest) - lost) | inexact;
}

/// a + b rounded to odd. Not for sums that overflow: f64 sums of f32 values, f32 sums of f16 values.
template <class T>
PLD_NUM_INLINE T odd_sum(T a, T b) {
  using F = std::conditional_t<sizeof(T) == 8, F64, F32>;
  using Bits = bits_of<F>;
  const T sum = a + b;
  const T b_seen = sum - a;
  const T error = (a - (sum - b_seen)) + (b - b_seen);  // exact (Knuth); NaN when an operand is infinite
  const auto bits = std::bit_cast<Bits>(sum);
  const auto size = magnitude_bits(error);
  const bool inexact = size != 0 && size <= static_cast<std::make_signed_t<Bits>>(F::infinity);
  const Bits lost = inexact && ((std::bit_cast<Bits>(error) ^ bits) & F::sign_mask) != 0 ? 1 : 0;
  return std::bit_cast<T>((bits - lost) | (inexact ? Bits{1} : Bits{0}));
}

/// bf16 and tf32 have f32's exponents: rounding is an addition to the pattern, overflow is a carry.
template <class F, Rounding R>
PLD_NUM_INLINE constexpr bits_of<F> shorten_f32(std::uint32_t x, bool satfinite) {
  constexpr int shift = 23 - F::man_bits;
  constexpr std::uint32_t unit = 1u << shift;
  const std::uint32_t magnitude_in = x & 0x7FFFFFFFu;
  const std::uint32_t sign = x & 0x80000000u;
  std::uint32_t add = 0;
  if constexpr (R == Rounding::rn) add = (unit >> 1) - 1 + (magnitude_in >> shift & 1u);
  if constexpr (R == Rounding::rna) add = unit >> 1;
  if constexpr (R == Rounding::rm) add = sign != 0 ? unit - 1 : 0;
  if constexpr (R == Rounding::rp) add = sign != 0 ? 0 : unit - 1;
  std::uint32_t magnitude = (magnitude_in + add) >> shift;
  const std::uint32_t highest = satfinite ? F::max_magnitude : F::inf_magnitude;
  magnitude = magnitude > highest ? highest : magnitude;
  const std::uint32_t rounded = (sign >> shift | magnitude) << (F::pad == 0 ? 0 : shift);
  return magnitude_in > F32::infinity ? F::canonical_nan : static_cast<bits_of<F>>(rounded);
}

/// Integer form of an f32 -> narrower encoder, no branches on the value: vectorises over lanes.
template <class F, Rounding R>
PLD_NUM_INLINE constexpr bits_of<F> encode_from_f32(std::uint32_t x, bool satfinite) {
  static_assert(F::man_bits < 23);
  const std::uint32_t magnitude_in = x & 0x7FFFFFFFu;
  const bool negative = (x >> 31) != 0;
  const std::uint32_t field = magnitude_in >> 23;
  const std::uint32_t sig = (magnitude_in & 0x7FFFFFu) | (field != 0 ? 0x800000u : 0u);
  const int above = static_cast<int>(field != 0 ? field : 1) - 127 - F::emin;
  const int wanted = 23 - F::man_bits + (above < 0 ? -above : 0);
  const int shift = wanted < 30 ? wanted : 30;
  const std::uint32_t unit = 1u << shift;
  const std::uint32_t odd = sig >> shift & 1u;
  std::uint32_t add = 0;
  if constexpr (R == Rounding::rn) add = (unit >> 1) - 1 + odd;
  if constexpr (R == Rounding::rna) add = unit >> 1;
  if constexpr (R == Rounding::rm) add = negative ? unit - 1 : 0;
  if constexpr (R == Rounding::rp) add = negative ? 0 : unit - 1;
  const std::uint32_t biased = static_cast<std::uint32_t>(above > 0 ? above : 0) << F::man_bits;
  std::uint32_t magnitude = biased + ((sig + add) >> shift);
  const auto beyond = static_cast<std::uint32_t>(overflow_magnitude<F, R>(negative, satfinite));
  magnitude = magnitude > F::max_magnitude ? beyond : magnitude;
  const auto infinite = static_cast<std::uint32_t>(overflow_magnitude<F, Rounding::rn>(negative, satfinite));
  magnitude = magnitude_in == F32::infinity ? infinite : magnitude;
  const auto rounded =
      static_cast<bits_of<F>>(magnitude << F::pad | (negative ? std::uint32_t{F::sign_mask} : 0u));
  return magnitude_in > F32::infinity ? F::canonical_nan : rounded;
}

#if defined(__F16C__)
template <Rounding R>
inline constexpr int f16c_immediate = R == Rounding::rz   ? _MM_FROUND_TO_ZERO
                                      : R == Rounding::rm ? _MM_FROUND_TO_NEG_INF
                                      : R == Rounding::rp ? _MM_FROUND_TO_POS_INF
                                                          : _MM_FROUND_TO_NEAREST_INT;
#endif

}  // namespace detail

/// f32 bits to a narrower format. NaN gives the format's canonical NaN (+max where there is none).
/// `satfinite`: what is beyond the largest finite number, infinity included, becomes it.
template <class F, Rounding R = Rounding::rn>
PLD_NUM_INLINE constexpr bits_of<F> encode_f32(std::uint32_t x, bool satfinite = false) {
  if constexpr (std::is_same_v<F, F32>) {
    return is_nan<F32>(x) ? F32::canonical_nan : x;
  } else {
#if defined(__F16C__)
    if constexpr (std::is_same_v<F, F16> && R != Rounding::rna) {
      if (!std::is_constant_evaluated()) {
        std::uint16_t half = _cvtss_sh(std::bit_cast<float>(x), detail::f16c_immediate<R>);
        if (satfinite && (half & 0x7FFF) == F16::infinity) half -= 1;
        return is_nan<F32>(x) ? F16::canonical_nan : half;
      }
    }
#endif
    if constexpr (F::exp_bits == 8) return detail::shorten_f32<F, R>(x, satfinite);
    return detail::encode_from_f32<F, R>(x, satfinite);
  }
}

/// f64 to any format, rounded once.
template <class F, Rounding R = Rounding::rn>
PLD_NUM_INLINE bits_of<F> encode_f64(double x, bool satfinite = false) {
  if constexpr (std::is_same_v<F, F64>) {
    return std::bit_cast<std::uint64_t>(x);
  } else if constexpr (std::is_same_v<F, F32>) {
    const auto nearest = static_cast<float>(x);
    const std::int64_t exact = detail::magnitude_bits(x);
    const std::int64_t back = detail::magnitude_bits(static_cast<double>(nearest));
    const std::uint32_t bits =
        detail::adjust<std::uint32_t, R>(std::bit_cast<std::uint32_t>(nearest), back > exact, back < exact);
    return is_nan<F64>(std::bit_cast<std::uint64_t>(x)) ? F32::canonical_nan : bits;
  } else {
    const auto bits = encode_f32<F, R>(detail::odd_f32_bits(x), satfinite);
    return is_nan<F64>(std::bit_cast<std::uint64_t>(x)) ? F::canonical_nan : bits;
  }
}

}  // namespace palladion::isa::num
