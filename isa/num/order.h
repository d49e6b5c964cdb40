// What PTX does with the sign and the order of floating-point numbers: neg, abs, copysign, min, max, testp.
// Nothing is rounded.
#pragma once

#include "isa/num/arith.h"

namespace palladion::isa::num {

namespace detail {

template <class F>
PLD_NUM_INLINE constexpr bits_of<F> unary_nan(bits_of<F> a) {
  if constexpr (std::is_same_v<F, F64>) return a | std::uint64_t{1} << 51;
  return F::canonical_nan;
}

}  // namespace detail

/// `neg`, `abs`: NaN becomes canonical, in f64 quiet with its sign (measured on an H200).
template <class F, bool Ftz = false>
PLD_NUM_INLINE constexpr bits_of<F> neg(bits_of<F> a) {
  const auto flushed = Ftz ? flush_subnormal<F>(a) : a;
  const auto flipped = static_cast<bits_of<F>>(flushed ^ F::sign_mask);
  return is_nan<F>(a) ? detail::unary_nan<F>(a) : flipped;
}
template <class F, bool Ftz = false>
PLD_NUM_INLINE constexpr bits_of<F> abs(bits_of<F> a) {
  const auto flushed = Ftz ? flush_subnormal<F>(a) : a;
  const auto cleared = static_cast<bits_of<F>>(flushed & F::magnitude_mask);
  return is_nan<F>(a) ? detail::unary_nan<F>(a) : cleared;
}

/// `copysign d, a, b`: the sign of a on the value of b.
template <class F>
PLD_NUM_INLINE constexpr bits_of<F> copysign(bits_of<F> a, bits_of<F> b) {
  return static_cast<bits_of<F>>((a & F::sign_mask) | (b & F::magnitude_mask));
}

struct MinMaxMods {
  bool ftz = false;
  bool nan = false;          ///< `.NaN`: any NaN operand gives NaN; otherwise the other operand
  bool xorsign_abs = false;  ///< `.xorsign.abs`: magnitudes are compared, the sign is the product's
  friend constexpr bool operator==(MinMaxMods, MinMaxMods) = default;
};

namespace detail {

template <class F, bool Max, MinMaxMods M>
PLD_NUM_INLINE constexpr bits_of<F> min_max(bits_of<F> a, bits_of<F> b) {
  using Bits = bits_of<F>;
  using Signed = std::make_signed_t<Bits>;
  const Bits sign = (a ^ b) & F::sign_mask;
  const bool a_nan = is_nan<F>(a);
  const bool b_nan = is_nan<F>(b);
  if constexpr (M.ftz) a = flush_subnormal<F>(a), b = flush_subnormal<F>(b);
  if constexpr (M.xorsign_abs) a &= F::magnitude_mask, b &= F::magnitude_mask;
  // Sign-magnitude to two's complement: integer order is the order of numbers with -0 < +0.
  const auto key_a = static_cast<Signed>(
      a ^ (static_cast<Bits>(-static_cast<Signed>(a >> (F::width - 1))) & F::magnitude_mask));
  const auto key_b = static_cast<Signed>(
      b ^ (static_cast<Bits>(-static_cast<Signed>(b >> (F::width - 1))) & F::magnitude_mask));
  Bits r = (Max ? key_a > key_b : key_a < key_b) ? a : b;
  r = a_nan ? b : r;
  r = b_nan ? a : r;
  if constexpr (M.xorsign_abs) r = static_cast<Bits>((r & F::magnitude_mask) | sign);
  const bool is_result_nan = M.nan ? (a_nan || b_nan) : (a_nan && b_nan);
  if constexpr (std::is_same_v<F, F64>) return is_result_nan ? nan_f64(a, b) : r;
  return is_result_nan ? F::canonical_nan : r;
}

}  // namespace detail

template <class F, MinMaxMods M = MinMaxMods{}>
PLD_NUM_INLINE constexpr bits_of<F> min(bits_of<F> a, bits_of<F> b) {
  return detail::min_max<F, false, M>(a, b);
}
template <class F, MinMaxMods M = MinMaxMods{}>
PLD_NUM_INLINE constexpr bits_of<F> max(bits_of<F> a, bits_of<F> b) {
  return detail::min_max<F, true, M>(a, b);
}

/// Calls `fn.template operator()<M>()` with the modifiers as a constant.
template <class Fn>
PLD_NUM_INLINE auto with_mods(MinMaxMods m, Fn&& fn) {
  return with_constant<false, true>(m.ftz, [&]<bool ftz>() {
    return with_constant<false, true>(m.nan, [&]<bool nan>() {
      return with_constant<false, true>(m.xorsign_abs, [&]<bool xorsign_abs>() {
        return fn.template operator()<MinMaxMods{ftz, nan, xorsign_abs}>();
      });
    });
  });
}

/// `testp`: zeros count as normal.
enum class TestClass : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };

template <class F>
constexpr bool testp(TestClass wanted, bits_of<F> a) {
  const bool subnormal = is_tiny<F>(a) && !is_zero<F>(a);
  switch (wanted) {
    case TestClass::finite:
      return !is_nan<F>(a) && !is_inf<F>(a);
    case TestClass::infinite:
      return is_inf<F>(a);
    case TestClass::number:
      return !is_nan<F>(a);
    case TestClass::notanumber:
      return is_nan<F>(a);
    case TestClass::normal:
      return !is_nan<F>(a) && !is_inf<F>(a) && !subnormal;
    case TestClass::subnormal:
      return subnormal;
  }
  return false;
}

}  // namespace palladion::isa::num
