// Comparisons of `setp` and `set` on bit patterns of any IEEE format.
#pragma once

#include "isa/num/round.h"

namespace palladion::isa::num {

/// PTX' comparison words for floats: the `u` forms are true when an operand is NaN.
enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

template <class F, Compare C>
PLD_NUM_INLINE bool compare(bits_of<F> a_bits, bits_of<F> b_bits, bool ftz = false) {
  if (ftz) a_bits = flush_subnormal<F>(a_bits), b_bits = flush_subnormal<F>(b_bits);
  using Value = std::conditional_t<std::is_same_v<F, F64>, double, float>;
  Value a;
  Value b;
  if constexpr (std::is_same_v<F, F64>) {
    a = to_double<F>(a_bits), b = to_double<F>(b_bits);
  } else {
    a = to_float<F>(a_bits), b = to_float<F>(b_bits);
  }
  if constexpr (C == Compare::eq) return a == b;
  if constexpr (C == Compare::ne) return a < b || a > b;
  if constexpr (C == Compare::lt) return a < b;
  if constexpr (C == Compare::le) return a <= b;
  if constexpr (C == Compare::gt) return a > b;
  if constexpr (C == Compare::ge) return a >= b;
  if constexpr (C == Compare::equ) return !(a < b || a > b);
  if constexpr (C == Compare::neu) return a != b;
  if constexpr (C == Compare::ltu) return !(a >= b);
  if constexpr (C == Compare::leu) return !(a > b);
  if constexpr (C == Compare::gtu) return !(a <= b);
  if constexpr (C == Compare::geu) return !(a < b);
  if constexpr (C == Compare::num) return a == a && b == b;
  if constexpr (C == Compare::nan) return a != a || b != b;
}

/// Calls `fn.template operator()<C>()` with the comparison as a constant.
template <class Fn>
PLD_NUM_INLINE decltype(auto) with_compare(Compare c, Fn&& fn) {
  switch (c) {
    case Compare::ne:
      return fn.template operator()<Compare::ne>();
    case Compare::lt:
      return fn.template operator()<Compare::lt>();
    case Compare::le:
      return fn.template operator()<Compare::le>();
    case Compare::gt:
      return fn.template operator()<Compare::gt>();
    case Compare::ge:
      return fn.template operator()<Compare::ge>();
    case Compare::equ:
      return fn.template operator()<Compare::equ>();
    case Compare::neu:
      return fn.template operator()<Compare::neu>();
    case Compare::ltu:
      return fn.template operator()<Compare::ltu>();
    case Compare::leu:
      return fn.template operator()<Compare::leu>();
    case Compare::gtu:
      return fn.template operator()<Compare::gtu>();
    case Compare::geu:
      return fn.template operator()<Compare::geu>();
    case Compare::num:
      return fn.template operator()<Compare::num>();
    case Compare::nan:
      return fn.template operator()<Compare::nan>();
    case Compare::eq:
      break;
  }
  return fn.template operator()<Compare::eq>();
}

}  // namespace palladion::isa::num
