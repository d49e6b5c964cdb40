// Integer arithmetic (PTX, "Integer Arithmetic Instructions" and "Extended-Precision ...").
#include <algorithm>
#include <array>
#include <limits>

#include "isa/op.h"
#include "isa/ops/lanes.h"

namespace palladion::isa::ops {
namespace {

using lanes::for_integer;
using lanes::wider_t;

Timing alu(const Instruction&) { return {Unit::alu, "alu"}; }
// dp2a and dp4a have no `type`.
Timing imad(const Instruction& i) {
  return {Unit::fma, i.form->slot("type") >= 0 && bits(i.type()) == 64 ? "imad64" : "imad"};
}
Timing idiv(const Instruction& i) { return {Unit::alu, bits(i.type()) == 64 ? "idiv64" : "idiv32"}; }
Timing popc_like(const Instruction&) { return {Unit::sfu, "popc"}; }

template <class T> using Unsigned = std::make_unsigned_t<T>;

template <class T> struct Add { T operator()(T a, T b) const { return T(Unsigned<T>(a) + Unsigned<T>(b)); } };
template <class T> struct Sub { T operator()(T a, T b) const { return T(Unsigned<T>(a) - Unsigned<T>(b)); } };
template <class T> struct Min { T operator()(T a, T b) const { return std::min(a, b); } };
template <class T> struct Max { T operator()(T a, T b) const { return std::max(a, b); } };
template <class T> struct Neg { T operator()(T a) const { return T(Unsigned<T>(0) - Unsigned<T>(a)); } };
template <class T> struct Abs { T operator()(T a) const { return a < 0 ? Neg<T>{}(a) : a; } };

int32_t saturate(int64_t v) {
  return static_cast<int32_t>(std::clamp<int64_t>(v, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}
struct AddSat { int32_t operator()(int32_t a, int32_t b) const { return saturate(int64_t{a} + b); } };
struct SubSat { int32_t operator()(int32_t a, int32_t b) const { return saturate(int64_t{a} - b); } };

// Two 16-bit halves in one register.
template <class F, class H> struct Halves {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    const auto lo = static_cast<uint16_t>(F{}(static_cast<H>(a), static_cast<H>(b)));
    const auto hi = static_cast<uint16_t>(F{}(static_cast<H>(a >> 16), static_cast<H>(b >> 16)));
    return uint32_t{lo} | uint32_t{hi} << 16;
  }
};

template <class T> struct MulLo { T operator()(T a, T b) const { return T(uint64_t(a) * uint64_t(b)); } };
template <class T> struct MulHi {
  T operator()(T a, T b) const { return T((wider_t<T>(a) * b) >> (sizeof(T) * 8)); }
};
template <class T> struct MulWide { wider_t<T> operator()(T a, T b) const { return wider_t<T>(a) * b; } };
template <class T> struct MadLo { T operator()(T a, T b, T c) const { return Add<T>{}(MulLo<T>{}(a, b), c); } };
template <class T> struct MadHi { T operator()(T a, T b, T c) const { return Add<T>{}(MulHi<T>{}(a, b), c); } };
template <class T> struct MadWide {
  using W = wider_t<T>;
  W operator()(T a, T b, W c) const { return W(std::make_unsigned_t<W>(W(a) * b) + std::make_unsigned_t<W>(c)); }
};
struct MadHiSat {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const { return saturate(int64_t{MulHi<int32_t>{}(a, b)} + c); }
};

// mul24/mad24: 24-bit operands, sign- or zero-extended; bits 0..31 or 16..47 of the product.
template <class T> int64_t low24(T a) {
  return std::is_signed_v<T> ? int64_t{static_cast<int32_t>(static_cast<uint32_t>(a) << 8) >> 8} : int64_t{a & 0xFFFFFF};
}
template <class T> struct Mul24Lo { T operator()(T a, T b) const { return T(low24(a) * low24(b)); } };
template <class T> struct Mul24Hi { T operator()(T a, T b) const { return T((low24(a) * low24(b)) >> 16); } };
template <class T> struct Mad24Lo { T operator()(T a, T b, T c) const { return Add<T>{}(Mul24Lo<T>{}(a, b), c); } };
template <class T> struct Mad24Hi { T operator()(T a, T b, T c) const { return Add<T>{}(Mul24Hi<T>{}(a, b), c); } };
struct Mad24HiSat {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const { return saturate(int64_t{Mul24Hi<int32_t>{}(a, b)} + c); }
};

// Division by zero is unspecified in PTX; Hopper's code gives all ones (and the dividend as remainder).
template <class T> struct Div {
  T operator()(T a, T b) const {
    if (b == 0) return T(~T(0));
    if (std::is_signed_v<T> && b == T(-1)) return Neg<T>{}(a);
    return T(a / b);
  }
};
template <class T> struct Rem {
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == T(-1)) return 0;
    return T(a % b);
  }
};
template <class T> struct Sad {
  T operator()(T a, T b, T c) const { return Add<T>{}(c, a < b ? Sub<T>{}(b, a) : Sub<T>{}(a, b)); }
};

template <class T> struct Popc { uint32_t operator()(T a) const { return static_cast<uint32_t>(__builtin_popcountll(a)); } };
template <class T> struct Clz {
  uint32_t operator()(T a) const {
    return a == 0 ? sizeof(T) * 8 : static_cast<uint32_t>(__builtin_clzll(a)) - (64 - sizeof(T) * 8);
  }
};
template <class T, bool shift_amount> struct Bfind {
  uint32_t operator()(T a) const {
    const auto u = static_cast<Unsigned<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
    if (u == 0) return ~0u;
    const auto msb = 63 - static_cast<uint32_t>(__builtin_clzll(u));
    return shift_amount ? sizeof(T) * 8 - 1 - msb : msb;
  }
};
template <class T> struct Brev {
  T operator()(T a) const {
    T r = 0;
    for (size_t i = 0; i < sizeof(T) * 8; ++i) r = T(r << 1 | (a >> i & 1));
    return r;
  }
};

// bfe: position and length are the low bytes; a signed field is extended by its top bit.
template <class T> struct Bfe {
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
template <class T> struct Bfi {
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
  static uint32_t sign(uint32_t a, uint32_t n) { return n == 0 ? 0 : n >= 32 ? a : uint32_t(int32_t(a << (32 - n)) >> (32 - n)); }
  static uint32_t zero(uint32_t a, uint32_t n) { return n >= 32 ? a : a & ((1u << n) - 1); }
};
template <bool is_signed, bool wrap> struct SzextOp {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    const uint32_t n = wrap ? b & 31 : std::min(b, 32u);
    return is_signed ? Szext::sign(a, n) : Szext::zero(a, n);
  }
};
template <bool wrap> struct Bmsk {
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

template <class A, class B> struct Dp4a {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int i = 0; i < 4; ++i) c += uint32_t(int32_t(A(a >> 8 * i)) * int32_t(B(b >> 8 * i)));
    return c;
  }
};
template <class A, class B, bool hi> struct Dp2a {  // A: 16-bit halves, B: bytes
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int i = 0; i < 2; ++i) c += uint32_t(int32_t(A(a >> 16 * i)) * int32_t(B(b >> (8 * i + (hi ? 16 : 0)))));
    return c;
  }
};

// --- carry chains: the carry flag is a predicate mask --------------------------------------------
template <class T, bool carry_in, bool carry_out, bool subtract>
void carried(const LaneArgs& a) {
  T t[lanes::warp_size];
  uint32_t out = 0;
  const uint32_t in = carry_in ? lanes::mask_source(a, 2) : 0;
  for (int i = 0; i < lanes::warp_size; ++i) {
    const T x = lanes::source<T>(a, 0)[i], y = lanes::source<T>(a, 1)[i], c = in >> i & 1;
    t[i] = subtract ? x - y - c : x + y + c;
    const bool overflow = subtract ? (x < y || (c != 0 && x == y)) : (t[i] < x || (c != 0 && t[i] == x));
    out |= uint32_t{overflow} << i;
  }
  lanes::commit(a.d[0], t, a.mask);
  if (carry_out) lanes::commit_mask(a.d[1], out, a.mask);
}

template <class T, bool high, bool carry_in, bool carry_out>
void mad_carried(const LaneArgs& a) {
  using U = Unsigned<T>;
  U t[lanes::warp_size];
  uint32_t out = 0;
  const uint32_t in = carry_in ? lanes::mask_source(a, 3) : 0;
  for (int i = 0; i < lanes::warp_size; ++i) {
    const T x = lanes::source<T>(a, 0)[i], y = lanes::source<T>(a, 1)[i];
    const U product = high ? U(MulHi<T>{}(x, y)) : U(MulLo<T>{}(x, y)), c = U(lanes::source<T>(a, 2)[i]), k = in >> i & 1;
    t[i] = product + c + k;
    out |= uint32_t{t[i] < product || (k != 0 && t[i] == product)} << i;
  }
  lanes::commit(a.d[0], t, a.mask);
  if (carry_out) lanes::commit_mask(a.d[1], out, a.mask);
}

template <bool subtract, bool carry_in>
Effect decode_carried(const Instruction& i, const DecodeContext&) {
  const bool out = i.has("cc");
  const bool wide = bits(i.type()) == 64;
  LanesFn fn;
  if (wide) fn = out ? carried<uint64_t, carry_in, true, subtract> : carried<uint64_t, carry_in, false, subtract>;
  else fn = out ? carried<uint32_t, carry_in, true, subtract> : carried<uint32_t, carry_in, false, subtract>;
  return Pure{fn, carry_in, out};
}

template <bool carry_in>
Effect decode_mad_carried(const Instruction& i, const DecodeContext&) {
  const bool out = i.has("cc"), high = i.mod("half") == "hi";
  const LanesFn fn = for_integer(i.type(), [&]<class T>() -> LanesFn {
    if constexpr (sizeof(T) < 4) {
      return nullptr;
    } else {
      if (high) return out ? mad_carried<T, true, carry_in, true> : mad_carried<T, true, carry_in, false>;
      return out ? mad_carried<T, false, carry_in, true> : mad_carried<T, false, carry_in, false>;
    }
  });
  return Pure{fn, carry_in, out};
}

// --- decode --------------------------------------------------------------------------------------
template <template <class> class F>
Effect binary(const Instruction& i, const DecodeContext&) {
  if (i.type() == Type::u16x2) return Pure{lanes::apply<Halves<F<uint16_t>, uint16_t>, uint32_t, uint32_t, uint32_t>};
  if (i.type() == Type::s16x2) return Pure{lanes::apply<Halves<F<int16_t>, int16_t>, uint32_t, uint32_t, uint32_t>};
  return Pure{for_integer(i.type(), []<class T>() -> LanesFn { return lanes::apply<F<T>, T, T, T>; })};
}

template <template <class> class F>
Effect unary(const Instruction& i, const DecodeContext&) {
  return Pure{for_integer(i.type(), []<class T>() -> LanesFn { return lanes::apply<F<T>, T, T>; })};
}

template <template <class> class F>
Effect ternary(const Instruction& i, const DecodeContext&) {
  return Pure{for_integer(i.type(), []<class T>() -> LanesFn { return lanes::apply<F<T>, T, T, T, T>; })};
}

Effect mul(const Instruction& i, const DecodeContext& c) {
  if (i.mod("half") == "wide") {
    return Pure{for_integer(i.type(), []<class T>() -> LanesFn {
      if constexpr (sizeof(T) == 2 || sizeof(T) == 4) return lanes::apply<MulWide<T>, wider_t<T>, T, T>;
      return nullptr;
    })};
  }
  if (i.mod("half") == "lo") return binary<MulLo>(i, c);
  return Pure{for_integer(i.type(), []<class T>() -> LanesFn {
    if constexpr (sizeof(T) > 1) return lanes::apply<MulHi<T>, T, T, T>;
    return nullptr;
  })};
}

Effect mad(const Instruction& i, const DecodeContext& c) {
  if (i.has("sat")) return Pure{lanes::apply<MadHiSat, int32_t, int32_t, int32_t, int32_t>};
  if (i.mod("half") == "lo") return ternary<MadLo>(i, c);
  if (i.mod("half") == "wide") {
    return Pure{for_integer(i.type(), []<class T>() -> LanesFn {
      if constexpr (sizeof(T) == 2 || sizeof(T) == 4) return lanes::apply<MadWide<T>, wider_t<T>, T, T, wider_t<T>>;
      return nullptr;
    })};
  }
  return Pure{for_integer(i.type(), []<class T>() -> LanesFn {
    if constexpr (sizeof(T) > 1) return lanes::apply<MadHi<T>, T, T, T, T>;
    return nullptr;
  })};
}

template <template <class> class Lo, template <class> class Hi>
Effect by_half24(const Instruction& i, bool ternary_form) {
  return Pure{for_integer(i.type(), [&]<class T>() -> LanesFn {
    if constexpr (sizeof(T) != 4) {
      return nullptr;
    } else if constexpr (requires { Lo<T>{}(T{}, T{}, T{}); }) {
      return i.mod("half") == "lo" ? lanes::apply<Lo<T>, T, T, T, T> : lanes::apply<Hi<T>, T, T, T, T>;
    } else {
      (void)ternary_form;
      return i.mod("half") == "lo" ? lanes::apply<Lo<T>, T, T, T> : lanes::apply<Hi<T>, T, T, T>;
    }
  })};
}
Effect mul24(const Instruction& i, const DecodeContext&) { return by_half24<Mul24Lo, Mul24Hi>(i, false); }
Effect mad24(const Instruction& i, const DecodeContext&) {
  if (i.has("sat")) return Pure{lanes::apply<Mad24HiSat, int32_t, int32_t, int32_t, int32_t>};
  return by_half24<Mad24Lo, Mad24Hi>(i, true);
}

template <template <class> class F>
Effect count_bits(const Instruction& i, const DecodeContext&) {
  if (bits(i.type()) == 64) return Pure{lanes::apply<F<uint64_t>, uint32_t, uint64_t>};
  return Pure{lanes::apply<F<uint32_t>, uint32_t, uint32_t>};
}

Effect bfind(const Instruction& i, const DecodeContext&) {
  const bool amount = i.has("shiftamt");
  return Pure{for_integer(i.type(), [&]<class T>() -> LanesFn {
    return amount ? lanes::apply<Bfind<T, true>, uint32_t, T> : lanes::apply<Bfind<T, false>, uint32_t, T>;
  })};
}

Effect bfe(const Instruction& i, const DecodeContext&) {
  return Pure{for_integer(i.type(), []<class T>() -> LanesFn { return lanes::apply<Bfe<T>, T, T, uint32_t, uint32_t>; })};
}

Effect bfi(const Instruction& i, const DecodeContext&) {
  if (bits(i.type()) == 64) return Pure{lanes::apply<Bfi<uint64_t>, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t>};
  return Pure{lanes::apply<Bfi<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>};
}

Effect szext(const Instruction& i, const DecodeContext&) {
  const bool wrap = i.mod("mode") == "wrap", s = i.type() == Type::s32;
  if (s) return Pure{wrap ? lanes::apply<SzextOp<true, true>, uint32_t, uint32_t, uint32_t>
                          : lanes::apply<SzextOp<true, false>, uint32_t, uint32_t, uint32_t>};
  return Pure{wrap ? lanes::apply<SzextOp<false, true>, uint32_t, uint32_t, uint32_t>
                   : lanes::apply<SzextOp<false, false>, uint32_t, uint32_t, uint32_t>};
}

Effect bmsk(const Instruction& i, const DecodeContext&) {
  return Pure{i.mod("mode") == "wrap" ? lanes::apply<Bmsk<true>, uint32_t, uint32_t, uint32_t>
                                      : lanes::apply<Bmsk<false>, uint32_t, uint32_t, uint32_t>};
}

Effect fns(const Instruction&, const DecodeContext&) {
  return Pure{lanes::apply<Fns, uint32_t, uint32_t, uint32_t, int32_t>};
}

Effect dp4a(const Instruction& i, const DecodeContext&) {
  const bool sa = i.type("atype") == Type::s32, sb = i.type("btype") == Type::s32;
  if (sa && sb) return Pure{lanes::apply<Dp4a<int8_t, int8_t>, uint32_t, uint32_t, uint32_t, uint32_t>};
  if (sa) return Pure{lanes::apply<Dp4a<int8_t, uint8_t>, uint32_t, uint32_t, uint32_t, uint32_t>};
  if (sb) return Pure{lanes::apply<Dp4a<uint8_t, int8_t>, uint32_t, uint32_t, uint32_t, uint32_t>};
  return Pure{lanes::apply<Dp4a<uint8_t, uint8_t>, uint32_t, uint32_t, uint32_t, uint32_t>};
}

template <bool hi>
LanesFn dp2a_half(bool sa, bool sb) {
  if (sa && sb) return lanes::apply<Dp2a<int16_t, int8_t, hi>, uint32_t, uint32_t, uint32_t, uint32_t>;
  if (sa) return lanes::apply<Dp2a<int16_t, uint8_t, hi>, uint32_t, uint32_t, uint32_t, uint32_t>;
  if (sb) return lanes::apply<Dp2a<uint16_t, int8_t, hi>, uint32_t, uint32_t, uint32_t, uint32_t>;
  return lanes::apply<Dp2a<uint16_t, uint8_t, hi>, uint32_t, uint32_t, uint32_t, uint32_t>;
}
Effect dp2a(const Instruction& i, const DecodeContext&) {
  const bool sa = i.type("atype") == Type::s32, sb = i.type("btype") == Type::s32;
  return Pure{i.mod("half") == "hi" ? dp2a_half<true>(sa, sb) : dp2a_half<false>(sa, sb)};
}

}  // namespace

// The floating forms of add, sub, mul, ... stand in floating.cpp and half.cpp under the same names.
OpList integer() {
  static const std::array defs = {
      OpDef{"add", "d = a + b. Integer Arithmetic Instructions: add.",
            {"add.type:u16|u32|u64|s16|s64 =d:type, a:type, b:type", "add{.sat}.type:s32 =d:type, a:type, b:type",
              "[8.0 sm_90] add.type:u16x2|s16x2 =d:type, a:type, b:type"},
            alu,
            [](const Instruction& i, const DecodeContext& c) -> Effect {
              if (i.type() == Type::s32 && i.has("sat")) return Pure{lanes::apply<AddSat, int32_t, int32_t, int32_t>};
              return binary<Add>(i, c);
            }},
      OpDef{"add", "d = a + b, the carry goes to CC. Extended-Precision Integer Arithmetic: add.cc.",
            {"add.cc.type:u32|s32|u64|s64 =d:type, a:type, b:type"}, alu, decode_carried<false, false>},
      OpDef{"addc", "d = a + b + CC. Extended-Precision Integer Arithmetic: addc.",
            {"addc{.cc}.type:u32|s32|u64|s64 =d:type, a:type, b:type"}, alu, decode_carried<false, true>},
      OpDef{"sub", "d = a - b. Integer Arithmetic Instructions: sub.",
            {"sub.type:u16|u32|u64|s16|s64 =d:type, a:type, b:type", "sub{.sat}.type:s32 =d:type, a:type, b:type"}, alu,
            [](const Instruction& i, const DecodeContext& c) -> Effect {
              if (i.type() == Type::s32 && i.has("sat")) return Pure{lanes::apply<SubSat, int32_t, int32_t, int32_t>};
              return binary<Sub>(i, c);
            }},
      OpDef{"sub", "d = a - b, the borrow goes to CC. Extended-Precision Integer Arithmetic: sub.cc.",
            {"sub.cc.type:u32|s32|u64|s64 =d:type, a:type, b:type"}, alu, decode_carried<true, false>},
      OpDef{"subc", "d = a - (b + CC). Extended-Precision Integer Arithmetic: subc.",
            {"subc{.cc}.type:u32|s32|u64|s64 =d:type, a:type, b:type"}, alu, decode_carried<true, true>},
      OpDef{"mul", "d = a * b: the low half, the high half or all of it. Integer Arithmetic Instructions: mul.",
            {"mul.half:lo|hi.type:u16|u32|u64|s16|s32|s64 =d:type, a:type, b:type",
              "mul.half:wide.type:u16|u32|s16|s32 =d:2*type, a:type, b:type"}, imad, mul},
      OpDef{"mad", "d = a * b + c. Integer Arithmetic Instructions: mad.",
            {"mad.half:lo|hi.type:u16|u32|u64|s16|s32|s64 =d:type, a:type, b:type, c:type",
              "mad.half:wide.type:u16|u32|s16|s32 =d:2*type, a:type, b:type, c:2*type",
              "mad.half:hi.sat.type:s32 =d:type, a:type, b:type, c:type"}, imad, mad},
      OpDef{"mad", "d = a * b + c, the carry goes to CC. Extended-Precision Integer Arithmetic: mad.cc.",
            {"mad.half:lo|hi.cc.type:u32|s32|u64|s64 =d:type, a:type, b:type, c:type"}, imad, decode_mad_carried<false>},
      OpDef{"madc", "d = a * b + c + CC. Extended-Precision Integer Arithmetic: madc.",
            {"madc.half:lo|hi{.cc}.type:u32|s32|u64|s64 =d:type, a:type, b:type, c:type"}, imad, decode_mad_carried<true>},
      OpDef{"mul24", "d = 24-bit a * b. Integer Arithmetic Instructions: mul24.",
            {"mul24.half:lo|hi.type:u32|s32 =d:type, a:type, b:type"}, imad, mul24},
      OpDef{"mad24", "d = 24-bit a * b + c. Integer Arithmetic Instructions: mad24.",
            {"mad24.half:lo|hi.type:u32|s32 =d:type, a:type, b:type, c:type",
              "mad24.half:hi.sat.type:s32 =d:type, a:type, b:type, c:type"}, imad, mad24},
      OpDef{"sad", "d = c + |a - b|. Integer Arithmetic Instructions: sad.",
            {"sad.type:u16|u32|u64|s16|s32|s64 =d:type, a:type, b:type, c:type"}, alu, ternary<Sad>},
      OpDef{"div", "d = a / b, towards zero. Integer Arithmetic Instructions: div.",
            {"div.type:u16|u32|u64|s16|s32|s64 =d:type, a:type, b:type"}, idiv, binary<Div>},
      OpDef{"rem", "d = a % b, with the sign of a. Integer Arithmetic Instructions: rem.",
            {"rem.type:u16|u32|u64|s16|s32|s64 =d:type, a:type, b:type"}, idiv, binary<Rem>},
      OpDef{"abs", "d = |a|. Integer Arithmetic Instructions: abs.", {"abs.type:s16|s32|s64 =d:type, a:type"}, alu,
            unary<Abs>},
      OpDef{"neg", "d = -a. Integer Arithmetic Instructions: neg.", {"neg.type:s16|s32|s64 =d:type, a:type"}, alu,
            unary<Neg>},
      OpDef{"min", "d = the smaller of a and b. Integer Arithmetic Instructions: min.",
            {"min.type:u16|u32|u64|s16|s64 =d:type, a:type, b:type", "min.type:s32 =d:type, a:type, b:type",
              "[8.0 sm_90] min.type:u16x2|s16x2 =d:type, a:type, b:type",
              "[8.0 sm_90] min.relu.type:s16x2|s32 =d:type, a:type, b:type"}, alu,
            [](const Instruction& i, const DecodeContext& c) -> Effect {
              if (!i.has("relu")) return binary<Min>(i, c);
              struct Relu16 { int16_t operator()(int16_t a, int16_t b) const { return std::max<int16_t>(std::min(a, b), 0); } };
              struct Relu32 { int32_t operator()(int32_t a, int32_t b) const { return std::max(std::min(a, b), 0); } };
              if (i.type() == Type::s32) return Pure{lanes::apply<Relu32, int32_t, int32_t, int32_t>};
              return Pure{lanes::apply<Halves<Relu16, int16_t>, uint32_t, uint32_t, uint32_t>};
            }},
      OpDef{"max", "d = the larger of a and b. Integer Arithmetic Instructions: max.",
            {"max.type:u16|u32|u64|s16|s64 =d:type, a:type, b:type", "max.type:s32 =d:type, a:type, b:type",
              "[8.0 sm_90] max.type:u16x2|s16x2 =d:type, a:type, b:type",
              "[8.0 sm_90] max.relu.type:s16x2|s32 =d:type, a:type, b:type"}, alu,
            [](const Instruction& i, const DecodeContext& c) -> Effect {
              if (!i.has("relu")) return binary<Max>(i, c);
              struct Relu16 { int16_t operator()(int16_t a, int16_t b) const { return std::max<int16_t>(std::max(a, b), 0); } };
              struct Relu32 { int32_t operator()(int32_t a, int32_t b) const { return std::max(std::max(a, b), 0); } };
              if (i.type() == Type::s32) return Pure{lanes::apply<Relu32, int32_t, int32_t, int32_t>};
              return Pure{lanes::apply<Halves<Relu16, int16_t>, uint32_t, uint32_t, uint32_t>};
            }},
      OpDef{"popc", "d = the number of set bits of a. Integer Arithmetic Instructions: popc.",
            {"popc.type:b32|b64 =d:u32, a:type"}, popc_like, count_bits<Popc>},
      OpDef{"clz", "d = the number of leading zeros of a. Integer Arithmetic Instructions: clz.",
            {"clz.type:b32|b64 =d:u32, a:type"}, popc_like, count_bits<Clz>},
      OpDef{"bfind", "d = the position of the most significant non-sign bit. Integer Arithmetic Instructions: bfind.",
            {"bfind{.shiftamt}.type:u32|u64|s32|s64 =d:u32, a:type"}, popc_like, bfind},
      OpDef{"fns", "d = the position of the n-th set bit. Integer Arithmetic Instructions: fns.",
            {"fns.type:b32 =d:b32, mask:b32, base:b32, offset:s32"}, idiv, fns},
      OpDef{"brev", "d = a with its bits reversed. Integer Arithmetic Instructions: brev.",
            {"brev.type:b32|b64 =d:type, a:type"}, popc_like, unary<Brev>},
      OpDef{"bfe", "d = the bit field of a. Integer Arithmetic Instructions: bfe.",
            {"bfe.type:u32|u64|s32|s64 =d:type, a:type, b:u32, c:u32"}, alu, bfe},
      OpDef{"bfi", "f = b with the bit field a put into it. Integer Arithmetic Instructions: bfi.",
            {"bfi.type:b32|b64 =f:type, a:type, b:type, c:u32, d:u32"}, alu, bfi},
      OpDef{"szext", "d = a extended from n bits. Integer Arithmetic Instructions: szext.",
            {"[7.6 sm_70] szext.mode:clamp|wrap.type:u32|s32 =d:type, a:type, b:u32"}, alu, szext},
      OpDef{"bmsk", "d = a mask of bits. Integer Arithmetic Instructions: bmsk.",
            {"[7.6 sm_70] bmsk.mode:clamp|wrap.type:b32 =d:type, a:type, b:type"}, alu, bmsk},
      OpDef{"dp4a", "d = c + the dot product of four bytes. Integer Arithmetic Instructions: dp4a.",
            {"dp4a.atype:u32|s32.btype:u32|s32 =d:b32, a:b32, b:b32, c:b32"}, imad, dp4a},
      OpDef{"dp2a", "d = c + the dot product of two halves and two bytes. Integer Arithmetic Instructions: dp2a.",
            {"dp2a.half:lo|hi.atype:u32|s32.btype:u32|s32 =d:b32, a:b32, b:b32, c:b32"}, imad, dp2a},
  };
  return defs;
}

}  // namespace palladion::isa::ops
