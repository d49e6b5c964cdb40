#pragma once
// What integer instructions compute for one lane (PTX, "Integer Arithmetic Instructions").
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "isa/ops/lanes.h"

namespace palladion::isa::ops::integers {

using lanes::wider_t;

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T>
struct Add {
  T operator()(T a, T b) const { return T(Unsigned<T>(a) + Unsigned<T>(b)); }
};
template <class T>
struct Sub {
  T operator()(T a, T b) const { return T(Unsigned<T>(a) - Unsigned<T>(b)); }
};
template <class T>
struct Min {
  T operator()(T a, T b) const { return std::min(a, b); }
};
template <class T>
struct Max {
  T operator()(T a, T b) const { return std::max(a, b); }
};
template <class T>
struct Neg {
  T operator()(T a) const { return T(Unsigned<T>(0) - Unsigned<T>(a)); }
};
template <class T>
struct Abs {
  T operator()(T a) const { return a < 0 ? Neg<T>{}(a) : a; }
};

inline int32_t saturate(int64_t v) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(v, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}
struct AddSat {
  int32_t operator()(int32_t a, int32_t b) const { return saturate(int64_t{a} + b); }
};
struct SubSat {
  int32_t operator()(int32_t a, int32_t b) const { return saturate(int64_t{a} - b); }
};

// Two 16-bit halves in one register.
template <class F, class H>
struct Halves {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    const auto lo = static_cast<uint16_t>(F{}(static_cast<H>(a), static_cast<H>(b)));
    const auto hi = static_cast<uint16_t>(F{}(static_cast<H>(a >> 16), static_cast<H>(b >> 16)));
    return uint32_t{lo} | uint32_t{hi} << 16;
  }
};

template <class T>
struct MulLo {
  T operator()(T a, T b) const { return T(uint64_t(a) * uint64_t(b)); }
};
template <class T>
struct MulHi {
  T operator()(T a, T b) const { return T((wider_t<T>(a) * b) >> (sizeof(T) * 8)); }
};
template <class T>
struct MulWide {
  wider_t<T> operator()(T a, T b) const { return wider_t<T>(a) * b; }
};
template <class T>
struct MadLo {
  T operator()(T a, T b, T c) const { return Add<T>{}(MulLo<T>{}(a, b), c); }
};
template <class T>
struct MadHi {
  T operator()(T a, T b, T c) const { return Add<T>{}(MulHi<T>{}(a, b), c); }
};
template <class T>
struct MadWide {
  using W = wider_t<T>;
  W operator()(T a, T b, W c) const {
    return W(std::make_unsigned_t<W>(W(a) * b) + std::make_unsigned_t<W>(c));
  }
};
struct MadHiSat {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return saturate(int64_t{MulHi<int32_t>{}(a, b)} + c);
  }
};

// mul24/mad24: 24-bit operands, sign- or zero-extended; bits 0..31 or 16..47 of the product.
template <class T>
int64_t low24(T a) {
  return std::is_signed_v<T> ? int64_t{static_cast<int32_t>(static_cast<uint32_t>(a) << 8) >> 8}
                             : int64_t{a & 0xFFFFFF};
}
template <class T>
struct Mul24Lo {
  T operator()(T a, T b) const { return T(low24(a) * low24(b)); }
};
template <class T>
struct Mul24Hi {
  T operator()(T a, T b) const { return T((low24(a) * low24(b)) >> 16); }
};
template <class T>
struct Mad24Lo {
  T operator()(T a, T b, T c) const { return Add<T>{}(Mul24Lo<T>{}(a, b), c); }
};
template <class T>
struct Mad24Hi {
  T operator()(T a, T b, T c) const { return Add<T>{}(Mul24Hi<T>{}(a, b), c); }
};
struct Mad24HiSat {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return saturate(int64_t{Mul24Hi<int32_t>{}(a, b)} + c);
  }
};

// Division by zero is unspecified in PTX; Hopper's code gives all ones, for the remainder too
// (tests/cuda/driver/answers).
template <class T>
struct Div {
  T operator()(T a, T b) const {
    if (b == 0) return T(~T(0));
    if (std::is_signed_v<T> && b == T(-1)) return Neg<T>{}(a);
    return T(a / b);
  }
};
template <class T>
struct Rem {
  T operator()(T a, T b) const {
    if (b == 0) return T(~T(0));
    if (std::is_signed_v<T> && b == T(-1)) return 0;
    return T(a % b);
  }
};
template <class T>
struct Sad {
  T operator()(T a, T b, T c) const { return Add<T>{}(c, a < b ? Sub<T>{}(b, a) : Sub<T>{}(a, b)); }
};

template <class T>
struct Popc {
  uint32_t operator()(T a) const { return static_cast<uint32_t>(__builtin_popcountll(a)); }
};
template <class T>
struct Clz {
  uint32_t operator()(T a) const {
    return a == 0 ? sizeof(T) * 8 : static_cast<uint32_t>(__builtin_clzll(a)) - (64 - sizeof(T) * 8);
  }
};
template <class T, bool shift_amount>
struct Bfind {
  uint32_t operator()(T a) const {
    const auto u = static_cast<Unsigned<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
    if (u == 0) return ~0u;
    const auto msb = 63 - static_cast<uint32_t>(__builtin_clzll(u));
    return shift_amount ? sizeof(T) * 8 - 1 - msb : msb;
  }
};
template <class T>
struct Brev {
  T operator()(T a) const {
    T r = 0;
    for (size_t i = 0; i < sizeof(T) * 8; ++i) r = T(r << 1 | (a >> i & 1));
    return r;
  }
};

// bfe: position and length are the low bytes; a signed field is extended by its top bit.
template <class T>
struct Bfe {
  T operator()(T a, uint32_t b, uint32_t c) const {
    constexpr int msb = sizeof(T) * 8 - 1;
    const int pos = static_cast<int>(b & 0xFF), len = static_cast<int>(c & 0xFF);
    const bool sign = std::is_signed_v<T> && len != 0 && (a >> std::min(pos + len - 1, msb) & 1) != 0;
    const Unsigned<T> fill = sign ? ~Unsigned<T>{0} : 0;
    const Unsigned<T> shifted = pos > msb ? 0 : static_cast<Unsigned<T>>(a) >> pos;
    const int kept = std::clamp(std::min(len, msb + 1 - pos), 0, msb + 1);
    const Unsigned<T> mask = kept > msb ? ~Unsigned<T>{0} : (Unsigned<T>{1} << kept) - 1;
    return static_cast<T>((shifted & mask) | (fill & ~mask));
  }
};
template <class T>
struct Bfi {
  T operator()(T a, T b, uint32_t c, uint32_t d) const {
    constexpr uint32_t width = sizeof(T) * 8;
    const uint32_t pos = c & 0xFF, len = d & 0xFF;
    if (pos >= width || len == 0) return b;
    const T ones = len >= width ? ~T{0} : (T{1} << len) - 1;
    const T mask = ones << pos;
    return (b & ~mask) | ((a << pos) & mask);
  }
};
struct Szext {
  static uint32_t sign(uint32_t a, uint32_t n) {
    return n == 0 ? 0 : n >= 32 ? a : uint32_t(int32_t(a << (32 - n)) >> (32 - n));
  }
  static uint32_t zero(uint32_t a, uint32_t n) { return n >= 32 ? a : a & ((1u << n) - 1); }
};
template <bool is_signed, bool wrap>
struct SzextOp {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    const uint32_t n = wrap ? b & 31 : std::min(b, 32u);
    return is_signed ? Szext::sign(a, n) : Szext::zero(a, n);
  }
};
template <bool wrap>
struct Bmsk {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    const uint32_t pos = wrap ? a & 31 : a, len = wrap ? b & 31 : b;
    if (pos > 31) return 0;
    const uint32_t ones = len >= 32 ? ~0u : (1u << len) - 1;
    return ones << pos;
  }
};
// fns: the n-th set bit from a base; PTX, "fns".
struct Fns {
  uint32_t operator()(uint32_t mask, uint32_t base, int32_t offset) const {
    if (offset == 0) return base < 32 && (mask >> base & 1) != 0 ? base : ~0u;
    const int step = offset > 0 ? 1 : -1;
    int found = 0;
    for (int pos = static_cast<int>(base); pos >= 0 && pos < 32; pos += step)
      if ((mask >> pos & 1) != 0 && ++found == std::abs(offset)) return static_cast<uint32_t>(pos);
    return ~0u;
  }
};

template <class A, class B>
struct Dp4a {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int i = 0; i < 4; ++i) c += uint32_t(int32_t(A(a >> 8 * i)) * int32_t(B(b >> 8 * i)));
    return c;
  }
};
template <class A, class B, bool hi>
struct Dp2a {  // A: 16-bit halves, B: bytes
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int i = 0; i < 2; ++i)
      c += uint32_t(int32_t(A(a >> 16 * i)) * int32_t(B(b >> (8 * i + (hi ? 16 : 0)))));
    return c;
  }
};

}  // namespace palladion::isa::ops::integers
