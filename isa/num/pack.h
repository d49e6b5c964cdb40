// Packed conversions: two values in one register (f16x2, bf16x2, e4m3x2, ..., ue8m0x2) and cvt.pack.
// PTX puts its first source, `a`, into the upper half; sub-byte formats sit in the low bits of a byte,
// except e2m1x2, which fills one byte.
#pragma once

#include "isa/num/convert.h"

namespace palladion::isa::num {

/// Bits from one element to the next in a packed pair of F.
template <class F>
inline constexpr int packed_stride = F::width == 4   ? 4
                                     : F::width <= 8 ? 8
                                                     : 16;

template <class F>
PLD_NUM_INLINE constexpr std::uint32_t pack_pair(bits_of<F> upper, bits_of<F> lower) {
  return static_cast<std::uint32_t>(upper) << packed_stride<F> | lower;
}

template <class F>
PLD_NUM_INLINE constexpr bits_of<F> lower_of(std::uint32_t pair) {
  return static_cast<bits_of<F>>(pair & ((std::uint32_t{1} << F::width) - 1));
}

template <class F>
PLD_NUM_INLINE constexpr bits_of<F> upper_of(std::uint32_t pair) {
  return lower_of<F>(pair >> packed_stride<F>);
}

/// cvt.<rnd>.<To>x2.f32 d, a, b.
template <class To, Rounding R>
PLD_NUM_INLINE std::uint32_t cvt_pair_from_f32(std::uint32_t a, std::uint32_t b, CvtMods m) {
  return pack_pair<To>(cvt<To, F32, R>(a, m), cvt<To, F32, R>(b, m));
}

/// cvt.<rnd>.<To>x2.<From>x2 d, a: f16x2 -> e4m3x2, e2m1x2 -> f16x2, bf16x2 -> ue8m0x2, ue8m0x2 -> bf16x2,
/// ...
template <class To, class From, Rounding R>
PLD_NUM_INLINE std::uint32_t cvt_pair(std::uint32_t a, CvtMods m) {
  return pack_pair<To>(cvt<To, From, R>(upper_of<From>(a), m), cvt<To, From, R>(lower_of<From>(a), m));
}

/// cvt.pack.sat.<bits>: a and b clamped to `bits` (2, 4, 8 or 16) and packed, a above b; below 16 bits the
/// low bits of c follow above them.
constexpr std::uint32_t cvt_pack_sat(int bits, bool is_signed, std::int32_t a, std::int32_t b,
                                     std::uint32_t c = 0) {
  const std::int32_t low = is_signed ? -(1 << (bits - 1)) : 0;
  const std::int32_t high = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  const std::uint32_t mask = (1u << bits) - 1;
  const auto upper = static_cast<std::uint32_t>(std::clamp(a, low, high)) & mask;
  const auto lower = static_cast<std::uint32_t>(std::clamp(b, low, high)) & mask;
  const std::uint32_t pair = upper << bits | lower;
  return bits == 16 ? pair : pair | c << (2 * bits);
}

}  // namespace palladion::isa::num
