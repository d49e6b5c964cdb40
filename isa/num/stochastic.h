// cvt.rs: stochastic rounding of f32 (PTX, "Data Movement and Conversion Instructions: cvt", rbits).
#pragma once

#include "isa/num/pack.h"

namespace palladion::isa::num {

/// Random bits that one element of a packed result uses: f16 as many as f32 has beyond it, e2m1 eight, the
/// others sixteen.
template <class F>
inline constexpr int random_bits = std::is_same_v<F, F16> ? 13
                                   : F::width == 4        ? 8
                                                          : 16;

/// f32 bits to a narrower format; the low random_bits<F> of `random` decide. They are added to the discarded
/// bits of the magnitude, aligned with the highest of these; a carry rounds up. A value that the format has
/// is not changed. NaN, infinity and what is too large as encode_f32. Documented by PTX, not measured; where
/// the result is subnormal, the alignment with its last bit is an assumption.
template <class F>
constexpr bits_of<F> encode_f32_stochastic(std::uint32_t x, std::uint32_t random, bool satfinite) {
  const std::uint32_t magnitude_in = x & F32::magnitude_mask;
  if (magnitude_in >= F32::infinity) return encode_f32<F>(x, satfinite);
  const bool negative = is_negative<F32>(x);
  const std::uint32_t field = magnitude_in >> 23;
  const std::uint64_t sig = (magnitude_in & 0x7FFFFFu) | (field != 0 ? 0x800000u : 0u);
  const int above = static_cast<int>(field != 0 ? field : 1) - 127 - F::emin;
  // 24 bits that are discarded and 16 below them with room for the carry are all that can matter.
  const int shift = std::min(23 - F::man_bits + (above < 0 ? -above : 0), 44);
  const std::uint64_t drawn = random & ((1u << random_bits<F>)-1);
  const int up = shift - random_bits<F>;
  const std::uint64_t sum = up >= 0 ? sig + (drawn << up) : sig + (drawn >> -up);
  const std::uint64_t magnitude =
      (static_cast<std::uint64_t>(above > 0 ? above : 0) << F::man_bits) + (sum >> shift);
  const std::uint64_t beyond = overflow_magnitude<F, Rounding::rn>(negative, satfinite);
  return with_sign<F>(negative, magnitude > F::max_magnitude ? beyond : magnitude);
}

/// One element of cvt.rs{.relu}{.satfinite}.<To>x2.f32 and .<To>x4.f32.
template <class To>
constexpr bits_of<To> cvt_stochastic(std::uint32_t x, std::uint32_t random, CvtMods m) {
  const bits_of<To> r = encode_f32_stochastic<To>(x, random, m.satfinite);
  return m.relu ? detail::relu<To>(r) : r;
}

}  // namespace palladion::isa::num
