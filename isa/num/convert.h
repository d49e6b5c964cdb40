// `cvt`: every scalar conversion between integers and floats, on bit patterns. Packed forms: pack.h.
#pragma once

#include <algorithm>
#include <limits>

#include "isa/num/arith.h"

namespace palladion::isa::num {

/// Modifiers of `cvt`. `rounding` serves both families: to an integral value it means .rni/.rzi/.rmi/.rpi.
struct CvtMods {
  Rounding rounding = Rounding::rn;
  bool integral = false;  ///< float to the same float type: round to an integer (cvt.rni.f32.f32)
  bool ftz = false;       ///< flushes f32 operands and f32 results only
  bool sat =
      false;  ///< float results: clamp to [0, 1], NaN -> +0; integer results: clamp to the type's range
  bool satfinite = false;  ///< beyond the largest finite number: that number
  bool relu = false;
};

namespace detail {

template <Rounding R, class T>
PLD_NUM_INLINE T round_integral(T x) {
  if constexpr (R == Rounding::rz) return std::trunc(x);
  if constexpr (R == Rounding::rm) return std::floor(x);
  if constexpr (R == Rounding::rp) return std::ceil(x);
  return std::nearbyint(x);
}

template <class To>
PLD_NUM_INLINE typename To::value_type clamp_to_integer(double r) {
  using Value = typename To::value_type;
  using Limits = std::numeric_limits<Value>;
  if constexpr (To::width <= 32) {
    constexpr double low = static_cast<double>(Limits::min());
    constexpr double high = static_cast<double>(Limits::max());
    r = r < low ? low : r;
    r = r > high ? high : r;
    if constexpr (std::is_same_v<Value, std::uint32_t>)
      return static_cast<Value>(static_cast<std::int64_t>(r));
    return static_cast<Value>(static_cast<std::int32_t>(r));
  } else if constexpr (To::is_signed) {
    if (r >= 0x1p63) return Limits::max();
    return r < -0x1p63 ? Limits::min() : static_cast<std::int64_t>(r);
  } else {
    if (r >= 0x1p64) return Limits::max();
    if (r >= 0x1p63)
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(r - 0x1p63)) | std::uint64_t{1} << 63;
    return r > 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(r)) : 0;
  }
}

/// Always saturates. NaN: 0, or only the top bit set when the source is f64 or the result has 64 bits.
template <class To, class From, Rounding R>
PLD_NUM_INLINE typename To::value_type float_to_integer(bits_of<From> b, bool ftz) {
  if constexpr (std::is_same_v<From, F32>) b = ftz ? flush_subnormal<F32>(b) : b;
  constexpr bool top_bit = std::is_same_v<From, F64> || To::width == 64;
  constexpr auto nan =
      static_cast<typename To::value_type>(top_bit ? std::uint64_t{1} << (To::width - 1) : 0);
  const double x = to_double<From>(b);
  const auto value = clamp_to_integer<To>(round_integral<R>(x == x ? x : 0.0));
  return x == x ? value : nan;
}

template <class To, Rounding R>
PLD_NUM_INLINE bits_of<To> integer_to_float(auto value) {
  if constexpr (R == Rounding::rn && (std::is_same_v<To, F32> || std::is_same_v<To, F64>)) {
    return std::bit_cast<bits_of<To>>(
        static_cast<std::conditional_t<std::is_same_v<To, F32>, float, double>>(value));
  } else if constexpr (sizeof(value) <= 4) {
    return encode_f64<To, R>(static_cast<double>(value));
  } else {
    const bool negative = value < 0;
    const auto magnitude = static_cast<std::uint64_t>(value);
    return round_pack<To, R>(negative, 0, negative ? 0 - magnitude : magnitude, false);
  }
}

template <class To, class Value>
PLD_NUM_INLINE typename To::value_type integer_to_integer(Value value, bool sat) {
  using Limits = std::numeric_limits<typename To::value_type>;
  if (sat && std::cmp_less(value, Limits::min())) return Limits::min();
  if (sat && std::cmp_greater(value, Limits::max())) return Limits::max();
  return static_cast<typename To::value_type>(value);
}

template <class F>
PLD_NUM_INLINE constexpr bits_of<F> canonical_but_f64(bits_of<F> b) {
  return std::is_same_v<F, F64> ? b : canonical<F>(b);
}

/// A NaN keeps its sign and the upper bits of its payload and becomes quiet: what the f64 unit does.
template <class To, class From>
PLD_NUM_INLINE constexpr bits_of<To> nan_with_payload(bits_of<From> b) {
  constexpr int shift = static_cast<int>(To::man_bits) - From::man_bits;
  const std::uint64_t man = b & From::man_mask;
  const std::uint64_t moved = shift >= 0 ? man << (shift & 63) : man >> (-shift & 63);
  const auto payload = static_cast<bits_of<To>>(moved | std::uint64_t{1} << (To::man_bits - 1));
  return static_cast<bits_of<To>>((is_negative<From>(b) ? To::sign_mask : 0) | To::infinity | payload);
}

/// Between different formats. NaN: to and from f64 keeps the payload, bf16 to f32 is a plain shift;
/// everything else is canonical.
template <class To, class From, Rounding R>
PLD_NUM_INLINE bits_of<To> float_to_float(bits_of<From> b, bool satfinite) {
  if constexpr (std::is_same_v<From, F64>) {
    const auto rounded = encode_f64<To, R>(std::bit_cast<double>(b), satfinite);
    return is_nan<F64>(b) ? nan_with_payload<To, F64>(b) : rounded;
  } else if constexpr (std::is_same_v<To, F64>) {
    const auto exact = std::bit_cast<std::uint64_t>(to_double<From>(b));
    if constexpr (From::width < 16)
      return exact;
    else
      return is_nan<From>(b) ? nan_with_payload<F64, From>(b) : exact;
  } else if constexpr (std::is_same_v<To, F32>) {
    return to_f32_bits<From>(b);
  } else {
    return encode_f32<To, R>(to_f32_bits<From>(b), satfinite);
  }
}

/// cvt.ftz.f32.f64: zero if the result is below 2^-126 when rounded with an unbounded exponent.
template <Rounding R>
PLD_NUM_INLINE std::uint32_t flush_rounded_f64(std::uint32_t rounded, std::uint64_t exact) {
  const std::uint32_t scaled = encode_f64<F32, R>(std::bit_cast<double>(exact) * 0x1p32);
  constexpr std::uint32_t smallest_normal = std::bit_cast<std::uint32_t>(0x1p-94F);
  return rounded & ((scaled & F32::magnitude_mask) < smallest_normal ? F32::sign_mask : ~0U);
}

/// cvt.rna.tf32: ptxas adds half a unit to what is finite and cuts. With .satfinite it then takes one unit
/// off whatever has the exponent of infinity, so that NaNs change their payload (measured on an H200).
PLD_NUM_INLINE constexpr std::uint32_t tf32_ties_away(std::uint32_t x, bool satfinite) {
  const bool finite = (x & F32::infinity) != F32::infinity;
  const std::uint32_t cut = (x + (finite ? 0x1000u : 0u)) & 0xFFFFE000u;
  return satfinite && (cut & F32::infinity) == F32::infinity ? cut - 0x2000u : cut;
}

/// cvt.rXi.f.f. f64 in f64, the others exactly in f32.
template <class F, Rounding R>
PLD_NUM_INLINE bits_of<F> to_integral(bits_of<F> b) {
  if constexpr (std::is_same_v<F, F64>) {
    if (is_nan<F64>(b)) return nan_f64(b, b);
    return std::bit_cast<std::uint64_t>(round_integral<R>(std::bit_cast<double>(b)));
  } else {
    return encode_f32<F>(std::bit_cast<std::uint32_t>(round_integral<R>(to_float<F>(b))));
  }
}

/// The sign is dropped; nearest does not exist. What is below 2^-127 is 2^-127.
template <Rounding R>
PLD_NUM_INLINE constexpr std::uint8_t encode_ue8m0(std::uint32_t f32, bool satfinite) {
  static_assert(R == Rounding::rz || R == Rounding::rp, "ue8m0: .rz or .rp");
  const std::uint32_t magnitude = f32 & F32::magnitude_mask;
  if (magnitude > F32::infinity) return Ue8m0::canonical_nan;
  std::uint32_t field = magnitude >> 23;
  const std::uint32_t man = magnitude & 0x7FFFFFu;
  // Field 0 stands for 2^-127 = 0x00400000 itself.
  if (R == Rounding::rp && (field != 0 ? man != 0 : magnitude > 0x00400000u)) ++field;
  if (field == 0xFF && satfinite) return Ue8m0::max_finite;
  return static_cast<std::uint8_t>(field);
}

}  // namespace detail

/// A result of `cvt`: the value for integers (sign extension to a wider register follows from its type), bits
/// for floats.
template <class T, bool IsFloat = T::is_float>
struct CvtValue {
  using type = bits_of<T>;
};
template <class T>
struct CvtValue<T, false> {
  using type = typename T::value_type;
};
template <class T>
using cvt_value = typename CvtValue<T>::type;

/// cvt with the rounding as a constant. From and To are any of U8..S64, F16, Bf16, F32, F64; To also Tf32 and
/// the small formats (one element of a packed form), From also the small formats.
template <class To, class From, Rounding R>
PLD_NUM_INLINE cvt_value<To> cvt(cvt_value<From> a, CvtMods m) {
  if constexpr (!To::is_float && !From::is_float) {
    return detail::integer_to_integer<To>(a, m.sat);
  } else if constexpr (!To::is_float) {
    return detail::float_to_integer<To, From, R>(a, m.ftz);
  } else if constexpr (std::is_same_v<To, Ue8m0>) {
    return detail::encode_ue8m0<R>(to_f32_bits<From>(a), m.satfinite);
  } else {
    bits_of<To> r;
    if constexpr (!From::is_float) {
      r = detail::integer_to_float<To, R>(a);
    } else {
      // Into f16 the unit does not flush: .rp of a subnormal number gives the smallest f16.
      if constexpr (std::is_same_v<From, F32> && !std::is_same_v<To, F16>)
        a = m.ftz ? flush_subnormal<F32>(a) : a;
      // Flushing is an operation of its own before the conversion to f64: it makes NaN canonical.
      if constexpr (std::is_same_v<From, F32> && std::is_same_v<To, F64>)
        a = m.ftz ? detail::canonical<F32>(a) : a;
      if constexpr (std::is_same_v<To, Tf32> && std::is_same_v<From, F32> && R == Rounding::rna) {
        r = detail::tf32_ties_away(a, m.satfinite);
      } else if constexpr (std::is_same_v<To, From>) {
        // In f32 and f64 it is a move without a modifier: NaN payloads pass.
        const bool moves = To::width >= 32 && !m.ftz && !m.sat && !m.relu && !m.satfinite;
        r = m.integral ? detail::to_integral<To, R>(a) : moves ? a : detail::canonical_but_f64<To>(a);
      } else {
        r = detail::float_to_float<To, From, R>(a, m.satfinite);
        // bf16 to f32 is a shift, but .ftz an operation of its own.
        if constexpr (std::is_same_v<From, Bf16> && std::is_same_v<To, F32>)
          r = m.ftz ? detail::canonical<F32>(r) : r;
      }
    }
    if constexpr (std::is_same_v<From, F64> && std::is_same_v<To, F32>)
      r = m.ftz ? detail::flush_rounded_f64<R>(r, a) : r;
    else if constexpr (std::is_same_v<To, F32>)
      r = m.ftz ? flush_subnormal<F32>(r) : r;
    if constexpr (To::width >= 16) r = m.sat ? detail::saturate<To>(r) : r;
    r = m.relu ? detail::relu<To>(r) : r;
    return r;
  }
}

/// cvt with every modifier at run time. In a lane loop hoist the rounding: `with_rounding(m.rounding, ...)`.
template <class To, class From>
inline cvt_value<To> cvt(cvt_value<From> a, CvtMods m) {
  return with_rounding(m.rounding, [&]<Rounding R>() -> cvt_value<To> {
    if constexpr (std::is_same_v<To, Ue8m0>) {
      return R == Rounding::rp ? cvt<To, From, Rounding::rp>(a, m) : cvt<To, From, Rounding::rz>(a, m);
    } else {
      return cvt<To, From, R>(a, m);
    }
  });
}

}  // namespace palladion::isa::num
