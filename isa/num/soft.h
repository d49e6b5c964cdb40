// Exact arithmetic in integers, for every format and rounding. The reference for the fast forms in arith.h
// and the implementation of what is rare (f64 with a directed rounding). The caller handles NaNs: operands
// here are not NaN, and an invalid operation returns `invalid`.
#pragma once

#include <optional>
#include <utility>

#include "isa/num/round.h"

namespace palladion::isa::num::soft {

__extension__ using u128 = unsigned __int128;

/// sig * 2^exp, sig's top bit at bit 63 unless the number is zero.
struct Unpacked {
  bool negative = false;
  bool infinite = false;
  int exp = 0;
  std::uint64_t sig = 0;
};

template <class F>
constexpr Unpacked unpack(bits_of<F> b) {
  Unpacked u;
  u.negative = is_negative<F>(b);
  u.infinite = is_inf<F>(b);
  const std::uint64_t magnitude = magnitude_of<F>(b);
  const std::uint64_t field = magnitude >> F::man_bits;
  u.sig = (magnitude & F::man_mask) | (field != 0 ? std::uint64_t{1} << F::man_bits : 0);
  u.exp = (field != 0 ? static_cast<int>(field) : 1) - F::bias - F::man_bits;
  if (u.sig != 0) {
    const int shift = std::countl_zero(u.sig);
    u.sig <<= shift;
    u.exp -= shift;
  }
  return u;
}

constexpr int leading_zeros(u128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(x));
}

/// Keeps the top 64 bits of a 128-bit significand and whether any lower one was set.
template <class F, Rounding R>
constexpr bits_of<F> round_pack_wide(bool negative, int exp, u128 sig, bool sticky) {
  if (sig == 0) return round_pack<F, R>(negative, exp, 0, sticky);
  const int shift = leading_zeros(sig);
  sig <<= shift;
  const bool lower = static_cast<std::uint64_t>(sig) != 0;
  return round_pack<F, R>(negative, exp - shift + 64, static_cast<std::uint64_t>(sig >> 64), sticky || lower);
}

/// A signed 128-bit term whose top bit is bit 125, so that a sum has room.
struct Term {
  bool negative = false;
  int exp = 0;
  u128 sig = 0;
};

constexpr Term normalized(Term t) {
  if (t.sig == 0) return t;
  const int shift = leading_zeros(t.sig) - 2;
  t.sig = shift >= 0 ? t.sig << shift
                     : t.sig >> -shift;  // products have at most 106 significant bits: nothing is lost
  t.exp -= shift;
  return t;
}

/// Shifts right; any bit that falls out is kept as the last bit ("jamming").
constexpr u128 shift_right_jam(u128 x, int n) {
  if (n <= 0) return x;
  if (n > 127) return x != 0 ? 1 : 0;
  return x >> n | ((x & ((u128{1} << n) - 1)) != 0 ? 1 : 0);
}

template <class F, Rounding R>
constexpr bits_of<F> sum_terms(Term a, Term b) {
  if (a.sig == 0 && b.sig == 0) {
    const bool negative = a.negative == b.negative ? a.negative : R == Rounding::rm;
    return with_sign<F>(negative, 0);
  }
  a = normalized(a);
  b = normalized(b);
  if (a.sig == 0 || (b.sig != 0 && (b.exp > a.exp || (b.exp == a.exp && b.sig > a.sig)))) std::swap(a, b);
  const u128 small = b.sig == 0 ? 0 : shift_right_jam(b.sig, a.exp - b.exp);
  const u128 sum = a.negative == b.negative ? a.sig + small : a.sig - small;
  if (sum == 0) return with_sign<F>(R == Rounding::rm, 0);
  return round_pack_wide<F, R>(a.negative, a.exp, sum, false);
}

/// a * b + c, rounded once.
template <class F, Rounding R>
constexpr std::optional<bits_of<F>> fma(bits_of<F> a_bits, bits_of<F> b_bits, bits_of<F> c_bits) {
  const Unpacked a = unpack<F>(a_bits);
  const Unpacked b = unpack<F>(b_bits);
  const Unpacked c = unpack<F>(c_bits);
  const bool negative = a.negative != b.negative;
  if (a.infinite || b.infinite) {
    if ((a.sig == 0 && !a.infinite) || (b.sig == 0 && !b.infinite)) return std::nullopt;
    if (c.infinite && c.negative != negative) return std::nullopt;
    return with_sign<F>(negative, F::inf_magnitude);
  }
  if (c.infinite) return c_bits;
  return sum_terms<F, R>({negative, a.exp + b.exp, static_cast<u128>(a.sig) * b.sig},
                         {c.negative, c.exp, static_cast<u128>(c.sig)});
}

template <class F, Rounding R>
constexpr std::optional<bits_of<F>> add(bits_of<F> a_bits, bits_of<F> b_bits) {
  const Unpacked a = unpack<F>(a_bits);
  const Unpacked b = unpack<F>(b_bits);
  if (a.infinite && b.infinite && a.negative != b.negative) return std::nullopt;
  if (a.infinite || b.infinite) return a.infinite ? a_bits : b_bits;
  return sum_terms<F, R>({a.negative, a.exp, u128{a.sig}}, {b.negative, b.exp, u128{b.sig}});
}

template <class F, Rounding R>
constexpr std::optional<bits_of<F>> mul(bits_of<F> a_bits, bits_of<F> b_bits) {
  const Unpacked a = unpack<F>(a_bits);
  const Unpacked b = unpack<F>(b_bits);
  const bool negative = a.negative != b.negative;
  if (a.infinite || b.infinite) {
    if ((a.sig == 0 && !a.infinite) || (b.sig == 0 && !b.infinite)) return std::nullopt;
    return with_sign<F>(negative, F::inf_magnitude);
  }
  return round_pack_wide<F, R>(negative, a.exp + b.exp, static_cast<u128>(a.sig) * b.sig, false);
}

template <class F, Rounding R>
constexpr std::optional<bits_of<F>> div(bits_of<F> a_bits, bits_of<F> b_bits) {
  const Unpacked a = unpack<F>(a_bits);
  const Unpacked b = unpack<F>(b_bits);
  const bool negative = a.negative != b.negative;
  if (a.infinite) return b.infinite ? std::nullopt : std::optional{with_sign<F>(negative, F::inf_magnitude)};
  if (b.infinite) return with_sign<F>(negative, 0);
  if (b.sig == 0) return a.sig == 0 ? std::nullopt : std::optional{with_sign<F>(negative, F::inf_magnitude)};
  if (a.sig == 0) return with_sign<F>(negative, 0);
  const u128 numerator = static_cast<u128>(a.sig) << 63;
  const auto quotient = static_cast<std::uint64_t>(numerator / b.sig);  // 2^62 < quotient < 2^64
  return round_pack<F, R>(negative, a.exp - 63 - b.exp, quotient, numerator % b.sig != 0);
}

template <class F, Rounding R>
constexpr std::optional<bits_of<F>> sqrt(bits_of<F> a_bits) {
  const Unpacked a = unpack<F>(a_bits);
  if (a.sig == 0 && !a.infinite) return a_bits;
  if (a.negative) return std::nullopt;
  if (a.infinite) return a_bits;
  // An even exponent, then the digit-by-digit root of sig << 62 (or 63): 63 or 64 bits.
  const int odd = a.exp & 1;
  u128 rest = static_cast<u128>(a.sig) << (62 + odd);
  const int exp = (a.exp - 62 - odd) / 2;
  u128 root = 0;
  for (u128 bit = u128{1} << 126; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return round_pack<F, R>(false, exp, static_cast<std::uint64_t>(root), rest != 0);
}

}  // namespace palladion::isa::num::soft
