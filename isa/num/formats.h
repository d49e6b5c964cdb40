// The number formats of PTX as small traits, and what their bit patterns mean.
//
// A format is a type with constants only. Values are always bit patterns (unsigned integers of
// `bits_type`), so that NaN payloads and the sign of zero stay under control.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace palladion::isa::num {

enum class NanRule : std::uint8_t {
  ieee,      ///< exponent all ones, mantissa not zero
  all_ones,  ///< only S.1...1 (e4m3)
  none,      ///< no NaN: an encoder returns +max (e2m3, e3m2, e2m1)
};

/// A sign bit, `Exp` exponent bits, `Man` mantissa bits. `Pad` low bits of the container are not part of the
/// value (tf32).
template <class Bits, int Exp, int Man, int Bias, NanRule Rule, bool Inf, Bits CanonicalNan, int Pad = 0>
struct FloatFormat {
  using bits_type = Bits;
  /// Arithmetic on patterns is done in this type: 32 bits where they suffice, so that lane loops stay narrow.
  using word_type = std::conditional_t<sizeof(Bits) <= 4, std::uint32_t, std::uint64_t>;
  static constexpr bool is_float = true;
  static constexpr int exp_bits = Exp;
  static constexpr int man_bits = Man;
  static constexpr int bias = Bias;
  static constexpr NanRule nan_rule = Rule;
  static constexpr bool has_inf = Inf;
  static constexpr int pad = Pad;
  static constexpr int width = 1 + Exp + Man + Pad;
  static constexpr int emin = 1 - Bias;  ///< exponent of the smallest normal number

  static constexpr Bits sign_mask = Bits{1} << (Exp + Man + Pad);
  static constexpr Bits magnitude_mask = sign_mask - 1;
  /// Magnitudes below are in units of the last mantissa bit, that is without the padding.
  static constexpr word_type exp_field_max = (word_type{1} << Exp) - 1;
  static constexpr word_type man_mask = (word_type{1} << Man) - 1;
  static constexpr word_type inf_magnitude = exp_field_max << Man;  ///< meaningful when has_inf
  static constexpr word_type max_magnitude = Rule == NanRule::ieee       ? inf_magnitude - 1
                                             : Rule == NanRule::all_ones ? (word_type{1} << (Exp + Man)) - 2
                                                                         : (word_type{1} << (Exp + Man)) - 1;
  /// Exponent of the largest finite number.
  static constexpr int emax = static_cast<int>(max_magnitude >> Man) - Bias;

  static constexpr Bits canonical_nan = CanonicalNan;
  static constexpr Bits infinity = static_cast<Bits>(inf_magnitude << Pad);
  static constexpr Bits max_finite = static_cast<Bits>(max_magnitude << Pad);
  static constexpr Bits one = static_cast<Bits>(static_cast<word_type>(Bias) << (Man + Pad));
};

// Canonical NaNs: CUDA programming guide (f32), cvt section of the PTX manual and CUDA's host headers (the
// others). f64 has no canonical NaN: operands' payloads survive, an invalid operation makes this pattern
// (CUDART_NAN).
struct F16 : FloatFormat<std::uint16_t, 5, 10, 15, NanRule::ieee, true, 0x7FFF> {};
struct Bf16 : FloatFormat<std::uint16_t, 8, 7, 127, NanRule::ieee, true, 0x7FFF> {};
struct Tf32 : FloatFormat<std::uint32_t, 8, 10, 127, NanRule::ieee, true, 0x7FFFE000, 13> {};
struct F32 : FloatFormat<std::uint32_t, 8, 23, 127, NanRule::ieee, true, 0x7FFFFFFF> {};
struct F64 : FloatFormat<std::uint64_t, 11, 52, 1023, NanRule::ieee, true, 0xFFF8000000000000> {};
struct E4m3 : FloatFormat<std::uint8_t, 4, 3, 7, NanRule::all_ones, false, 0x7F> {};
struct E5m2 : FloatFormat<std::uint8_t, 5, 2, 15, NanRule::ieee, true, 0x7F> {};
struct E2m3 : FloatFormat<std::uint8_t, 2, 3, 1, NanRule::none, false, 0x1F> {};
struct E3m2 : FloatFormat<std::uint8_t, 3, 2, 3, NanRule::none, false, 0x1F> {};
struct E2m1 : FloatFormat<std::uint8_t, 2, 1, 1, NanRule::none, false, 0x07> {};

/// A power of two, 2^(bits - 127); 0xFF is NaN. No sign, no zero. Its conversions are stated apart
/// (convert.h).
struct Ue8m0 {
  using bits_type = std::uint8_t;
  static constexpr bool is_float = true;
  static constexpr int width = 8;
  static constexpr bits_type canonical_nan = 0xFF;
  static constexpr bits_type max_finite = 0xFE;
};

/// Integer types as formats, so that one `cvt` covers all of PTX' types.
template <int Width, class Value>
struct IntFormat {
  using value_type = Value;
  using bits_type = std::make_unsigned_t<Value>;
  static constexpr bool is_float = false;
  static constexpr int width = Width;
  static constexpr bool is_signed = std::is_signed_v<Value>;
};
struct U8 : IntFormat<8, std::uint8_t> {};
struct U16 : IntFormat<16, std::uint16_t> {};
struct U32 : IntFormat<32, std::uint32_t> {};
struct U64 : IntFormat<64, std::uint64_t> {};
struct S8 : IntFormat<8, std::int8_t> {};
struct S16 : IntFormat<16, std::int16_t> {};
struct S32 : IntFormat<32, std::int32_t> {};
struct S64 : IntFormat<64, std::int64_t> {};

template <class F>
using bits_of = typename F::bits_type;

/// A number without its sign and padding, in units of the last mantissa bit: the order of patterns is the
/// order of numbers.
template <class F>
constexpr typename F::word_type magnitude_of(bits_of<F> b) {
  return static_cast<typename F::word_type>(b & F::magnitude_mask) >> F::pad;
}

template <class F>
constexpr bool is_nan(bits_of<F> b) {
  using Signed = std::make_signed_t<typename F::word_type>;  // AVX2 compares signed integers only
  constexpr auto last_number = F::nan_rule == NanRule::ieee ? F::inf_magnitude : F::max_magnitude;
  if constexpr (F::nan_rule != NanRule::none)
    return static_cast<Signed>(magnitude_of<F>(b)) > static_cast<Signed>(last_number);
  return false;
}

template <class F>
constexpr bool is_inf(bits_of<F> b) {
  if constexpr (!F::has_inf) return false;
  return magnitude_of<F>(b) == F::inf_magnitude;
}

template <class F>
constexpr bool is_zero(bits_of<F> b) {
  return magnitude_of<F>(b) == 0;
}

/// Exponent field zero: a subnormal number or zero.
template <class F>
constexpr bool is_tiny(bits_of<F> b) {
  return (magnitude_of<F>(b) & (F::exp_field_max << F::man_bits)) == 0;
}

template <class F>
constexpr bool is_negative(bits_of<F> b) {
  return (b & F::sign_mask) != 0;
}

/// `.ftz`: a subnormal number becomes zero of the same sign.
template <class F>
constexpr bits_of<F> flush_subnormal(bits_of<F> b) {
  return static_cast<bits_of<F>>(b &
                                 (is_tiny<F>(b) ? F::sign_mask : static_cast<bits_of<F>>(~bits_of<F>{0})));
}

namespace detail {

/// Any format of at most 32 bits to f32, without instructions of the host.
template <class F>
constexpr std::uint32_t widen_to_f32(bits_of<F> b) {
  const std::uint32_t sign = is_negative<F>(b) ? 0x80000000u : 0u;
  if (is_nan<F>(b)) return F32::canonical_nan;
  if (is_inf<F>(b)) return sign | F32::infinity;
  const std::uint32_t magnitude = magnitude_of<F>(b);
  std::uint32_t man = magnitude & F::man_mask;
  const std::uint32_t exp = magnitude >> F::man_bits;
  if (exp == 0 && man == 0) return sign;
  if (F::exp_bits == 8) return sign | magnitude << (23 - F::man_bits);  // the same range: subnormals stay so
  int e = static_cast<int>(exp) - F::bias;
  if (exp == 0) {
    const int shift = std::countl_zero(man) - (31 - F::man_bits);
    man = (man << shift) & F::man_mask;
    e = F::emin - shift;
  }
  return sign | static_cast<std::uint32_t>(e + 127) << 23 | man << (23 - F::man_bits);
}

template <class F>
constexpr auto make_f32_table() {
  std::array<std::uint32_t, std::size_t{1} << F::width> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = widen_to_f32<F>(static_cast<bits_of<F>>(i));
  return table;
}

template <class F>
inline constexpr auto f32_table = make_f32_table<F>();

}  // namespace detail

/// Exact value as f32 bits. NaN becomes 0x7FFFFFFF, except from bf16, which is a plain shift on the chip.
/// For Tf32 the thirteen low bits are ignored, as the tensor core ignores them.
template <class F>
constexpr std::uint32_t to_f32_bits(bits_of<F> b) {
  if constexpr (std::is_same_v<F, F32>) {
    return b;
  } else if constexpr (std::is_same_v<F, Ue8m0>) {
    return b == 0xFF ? F32::canonical_nan : b == 0 ? 0x00400000u : static_cast<std::uint32_t>(b) << 23;
  } else if constexpr (std::is_same_v<F, Bf16>) {
    return static_cast<std::uint32_t>(b) << 16;
  } else if constexpr (F::width <= 8) {
    return detail::f32_table<F>[b & ((1u << F::width) - 1)];
  } else {
    static_assert(F::width <= 32);
#if defined(__F16C__)
    if constexpr (std::is_same_v<F, F16>) {
      if (!std::is_constant_evaluated()) {
        const auto wide = std::bit_cast<std::uint32_t>(_cvtsh_ss(b));
        return (wide & 0x7FFFFFFFu) > F32::infinity ? F32::canonical_nan : wide;
      }
    }
#endif
    return detail::widen_to_f32<F>(b);
  }
}

/// Exact value as a float; not for F64.
template <class F>
constexpr float to_float(bits_of<F> b) {
  return std::bit_cast<float>(to_f32_bits<F>(b));
}

/// Exact value as a double, every format.
template <class F>
constexpr double to_double(bits_of<F> b) {
  if constexpr (std::is_same_v<F, F64>) {
    return std::bit_cast<double>(b);
  } else {
    return static_cast<double>(to_float<F>(b));
  }
}

}  // namespace palladion::isa::num
