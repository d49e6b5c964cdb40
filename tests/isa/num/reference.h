// Slow, obvious forms to compare with: scaling in f64 for encoders, the host's rounding mode for arithmetic.
#pragma once

#include <cfenv>
#include <cmath>

#include "isa/num/round.h"

namespace palladion::isa::num::test {

inline int host_mode(Rounding r) {
  return r == Rounding::rz   ? FE_TOWARDZERO
         : r == Rounding::rm ? FE_DOWNWARD
         : r == Rounding::rp ? FE_UPWARD
                             : FE_TONEAREST;
}

/// Runs `fn` under a rounding mode of the host.
template <class Fn>
[[gnu::noinline]] auto under(Rounding r, Fn fn) {
  std::fesetround(host_mode(r));
  auto result = fn();
  std::fesetround(FE_TONEAREST);
  return result;
}

/// ... and with the host flushing results as `.ftz` does (operands stay as they are).
template <class Fn>
[[gnu::noinline]] auto under_flushing(Rounding r, Fn fn) {
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  auto result = under(r, fn);
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_OFF);
  return result;
}

/// The encoder by definition: counts units of the last place, exactly, in f64. F has at most 11 mantissa bits
/// or is f32.
template <class F>
std::uint64_t encode_by_definition(double x, Rounding r, bool satfinite) {
  const bool negative = std::signbit(x);
  const double a = std::fabs(x);
  if (x != x) return F::canonical_nan;
  std::uint64_t magnitude = 0;
  const double largest = std::ldexp(static_cast<double>((F::max_magnitude & F::man_mask) + F::man_mask + 1),
                                    F::emax - F::man_bits);
  if (std::isinf(x)) {
    magnitude = satfinite || F::nan_rule == NanRule::none ? F::max_magnitude : F::max_magnitude + 1;
  } else {
    const int e = a == 0 ? F::emin : std::max(std::ilogb(a), F::emin);
    const double units = std::ldexp(a, F::man_bits - e);
    double whole = std::floor(units);
    const double part = units - whole;
    const bool odd = std::fmod(whole, 2) != 0;
    const bool up = r == Rounding::rn    ? part > 0.5 || (part == 0.5 && odd)
                    : r == Rounding::rna ? part >= 0.5
                    : r == Rounding::rm  ? negative && part > 0
                    : r == Rounding::rp  ? !negative && part > 0
                                         : false;
    if (up) whole += 1;
    const double value = std::ldexp(whole, e - F::man_bits);
    if (value > largest) {
      const bool to_max = satfinite || F::nan_rule == NanRule::none || r == Rounding::rz ||
                          (r == Rounding::rm && !negative) || (r == Rounding::rp && negative);
      magnitude = to_max ? F::max_magnitude : F::max_magnitude + 1;
    } else if (value != 0) {
      const int ve = std::max(std::ilogb(value), F::emin);
      const auto sig = static_cast<std::uint64_t>(std::ldexp(value, F::man_bits - ve));
      magnitude = (static_cast<std::uint64_t>(ve - F::emin) << F::man_bits) + sig;
    }
  }
  return magnitude << F::pad | (negative ? std::uint64_t{F::sign_mask} : 0);
}

}  // namespace palladion::isa::num::test
