// Integer arithmetic (PTX, "Integer Arithmetic Instructions" and "Extended-Precision ...").
#include <algorithm>
#include <limits>

#include "isa/core/op.h"
#include "isa/ops/integers.h"
#include "isa/ops/lanes.h"

namespace palladion::isa::ops {
namespace {

using lanes::for_integer;

constexpr Timing alu{Unit::alu, "alu"};
// IADD3 on the ALU or IMAD on the FMA pipe, whichever is idle.
// 64 bits: IADD3 and its carry.
Timing sum(const Instruction& i) {
  return bits(i.type()) == 64 ? Timing{Unit::alu, "iadd64"} : Timing{Unit::fma, "iadd"};
}
// dp2a and dp4a have no `type`.
Timing imad(const Instruction& i) {
  return {Unit::fma, i.form->slot("type") >= 0 && bits(i.type()) == 64 ? "imad64" : "imad"};
}
// IMAD.HI and IMAD.WIDE. To add a product of two registers to 64 bits takes two instructions more.
Timing product(const Instruction& i) {
  if (bits(i.type()) == 64 || i.mod("half") == "lo") return imad(i);
  if (i.mod("half") == "hi") return {Unit::fma, "imad_hi"};
  const bool adds = i.form->operand("c") >= 0 && i.operand("b")->is(Operand::Kind::reg);
  return {Unit::fma, adds ? "mad_wide" : "imad_wide"};
}
Timing idiv(const Instruction& i) { return {Unit::alu, bits(i.type()) == 64 ? "idiv64" : "idiv32"}; }
Timing irem(const Instruction& i) { return {Unit::alu, bits(i.type()) == 64 ? "idiv64" : "irem32"}; }
// A shift and an extension; places that are in registers have to be taken out of them.
Timing field(const Instruction& i) {
  return {Unit::alu, i.operand("b")->is(Operand::Kind::reg) ? "bfe" : "alu_pair"};
}
constexpr Timing popc_like{Unit::sfu, "popc"};

using namespace integers;  // NOLINT: this file is about them

// --- decode --------------------------------------------------------------------------------------
template <template <class> class F>
Effect binary(const Instruction& i, const DecodeContext&) {
  if (i.type() == Type::u16x2)
    return Pure{lanes::apply<Halves<F<uint16_t>, uint16_t>, uint32_t, uint32_t, uint32_t>};
  if (i.type() == Type::s16x2)
    return Pure{lanes::apply<Halves<F<int16_t>, int16_t>, uint32_t, uint32_t, uint32_t>};
  return Pure{for_integer(i.type(), []<class T>() -> LanesFn { return lanes::apply<F<T>, T, T, T>; })};
}

// min.relu, max.relu: no less than 0.
template <template <class> class F, class T>
struct Relu {
  T operator()(T a, T b) const { return std::max<T>(F<T>{}(a, b), 0); }
};
template <template <class> class F>
Effect min_max(const Instruction& i, const DecodeContext& c) {
  if (!i.has("relu")) return binary<F>(i, c);
  if (i.type() == Type::s32) return Pure{lanes::apply<Relu<F, int32_t>, int32_t, int32_t, int32_t>};
  return Pure{lanes::apply<Halves<Relu<F, int16_t>, int16_t>, uint32_t, uint32_t, uint32_t>};
}

// .sat: of s32 alone.
template <template <class> class F, class Saturated>
Effect sum_or_saturated(const Instruction& i, const DecodeContext& c) {
  if (i.type() == Type::s32 && i.has("sat")) return Pure{lanes::apply<Saturated, int32_t, int32_t, int32_t>};
  return binary<F>(i, c);
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
      if constexpr (sizeof(T) <= 4) return lanes::apply<MulWide<T>, wider_t<T>, T, T>;
      return nullptr;
    })};
  }
  if (i.mod("half") == "lo") return binary<MulLo>(i, c);
  return Pure{for_integer(i.type(), []<class T>() -> LanesFn { return lanes::apply<MulHi<T>, T, T, T>; })};
}

Effect mad(const Instruction& i, const DecodeContext& c) {
  if (i.has("sat")) return Pure{lanes::apply<MadHiSat, int32_t, int32_t, int32_t, int32_t>};
  if (i.mod("half") == "lo") return ternary<MadLo>(i, c);
  if (i.mod("half") == "wide") {
    return Pure{for_integer(i.type(), []<class T>() -> LanesFn {
      if constexpr (sizeof(T) <= 4) return lanes::apply<MadWide<T>, wider_t<T>, T, T, wider_t<T>>;
      return nullptr;
    })};
  }
  return Pure{for_integer(i.type(), []<class T>() -> LanesFn { return lanes::apply<MadHi<T>, T, T, T, T>; })};
}

template <template <class> class Lo, template <class> class Hi>
Effect by_half24(const Instruction& i) {
  return Pure{for_integer(i.type(), [&]<class T>() -> LanesFn {
    if constexpr (sizeof(T) != 4) {
      return nullptr;
    } else if constexpr (requires { Lo<T>{}(T{}, T{}, T{}); }) {
      return i.mod("half") == "lo" ? lanes::apply<Lo<T>, T, T, T, T> : lanes::apply<Hi<T>, T, T, T, T>;
    } else {
      return i.mod("half") == "lo" ? lanes::apply<Lo<T>, T, T, T> : lanes::apply<Hi<T>, T, T, T>;
    }
  })};
}
Effect mul24(const Instruction& i, const DecodeContext&) { return by_half24<Mul24Lo, Mul24Hi>(i); }
Effect mad24(const Instruction& i, const DecodeContext&) {
  if (i.has("sat")) return Pure{lanes::apply<Mad24HiSat, int32_t, int32_t, int32_t, int32_t>};
  return by_half24<Mad24Lo, Mad24Hi>(i);
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
  return Pure{for_integer(
      i.type(), []<class T>() -> LanesFn { return lanes::apply<Bfe<T>, T, T, uint32_t, uint32_t>; })};
}

Effect bfi(const Instruction& i, const DecodeContext&) {
  if (bits(i.type()) == 64)
    return Pure{lanes::apply<Bfi<uint64_t>, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t>};
  return Pure{lanes::apply<Bfi<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>};
}

Effect szext(const Instruction& i, const DecodeContext&) {
  const bool wrap = i.mod("mode") == "wrap", s = i.type() == Type::s32;
  if (s)
    return Pure{wrap ? lanes::apply<SzextOp<true, true>, uint32_t, uint32_t, uint32_t>
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

// Calls f.operator()<A, B>() with the signs of dp2a's and dp4a's operands.
template <class Fn>
Effect for_signs(const Instruction& i, Fn f) {
  const bool b = i.type("btype") == Type::s32;
  if (i.type("atype") == Type::s32)
    return Pure { b ? f.template operator()<true, true>() : f.template operator()<true, false>() };
  return Pure { b ? f.template operator()<false, true>() : f.template operator()<false, false>() };
}

Effect dp4a(const Instruction& i, const DecodeContext&) {
  return for_signs(i, []<bool a, bool b>() -> LanesFn {
    using F = Dp4a<std::conditional_t<a, int8_t, uint8_t>, std::conditional_t<b, int8_t, uint8_t>>;
    return lanes::apply<F, uint32_t, uint32_t, uint32_t, uint32_t>;
  });
}

template <bool hi>
Effect dp2a_half(const Instruction& i) {
  return for_signs(i, []<bool a, bool b>() -> LanesFn {
    using F = Dp2a<std::conditional_t<a, int16_t, uint16_t>, std::conditional_t<b, int8_t, uint8_t>, hi>;
    return lanes::apply<F, uint32_t, uint32_t, uint32_t, uint32_t>;
  });
}
Effect dp2a(const Instruction& i, const DecodeContext&) {
  return i.mod("half") == "hi" ? dp2a_half<true>(i) : dp2a_half<false>(i);
}

}  // namespace

// The floating forms of add, sub, mul, ... are in floating.cpp and half.cpp under the same names.
std::vector<OpDef> integer() {
  return {
      OpDef{"add",
            "d = a + b. Integer Arithmetic Instructions: add.",
            {"add.type:u16|u32|u64|s16|s64 =d:type, a:type, b:type",
             "add{.sat}.type:s32 =d:type, a:type, b:type",
             "[8.0 sm_90] add.type:u16x2|s16x2 =d:type, a:type, b:type"},
            sum,
            sum_or_saturated<Add, AddSat>,
            Operation::add},
      OpDef{"sub",
            "d = a - b. Integer Arithmetic Instructions: sub.",
            {"sub.type:u16|u32|u64|s16|s64 =d:type, a:type, b:type",
             "sub{.sat}.type:s32 =d:type, a:type, b:type"},
            sum,
            sum_or_saturated<Sub, SubSat>,
            Operation::subtract},
      OpDef{"mul",
            "d = a * b: the low half, the high half or all of it. Integer Arithmetic Instructions: mul.",
            {"mul.half:lo|hi.type:u16|u32|u64|s16|s32|s64 =d:type, a:type, b:type",
             "mul.half:wide.type:u16|u32|s16|s32 =d:2*type, a:type, b:type"},
            product,
            mul,
            Operation::multiply},
      OpDef{"mad",
            "d = a * b + c. Integer Arithmetic Instructions: mad.",
            {"mad.half:lo|hi.type:u16|u32|u64|s16|s32|s64 =d:type, a:type, b:type, c:type",
             "mad.half:wide.type:u16|u32|s16|s32 =d:2*type, a:type, b:type, c:2*type",
             "mad.half:hi.sat.type:s32 =d:type, a:type, b:type, c:type"},
            product,
            mad,
            Operation::multiply_add},
      OpDef{"mul24",
            "d = 24-bit a * b. Integer Arithmetic Instructions: mul24.",
            {"mul24.half:lo|hi.type:u32|s32 =d:type, a:type, b:type"},
            imad,
            mul24},
      OpDef{"mad24",
            "d = 24-bit a * b + c. Integer Arithmetic Instructions: mad24.",
            {"mad24.half:lo|hi.type:u32|s32 =d:type, a:type, b:type, c:type",
             "mad24.half:hi.sat.type:s32 =d:type, a:type, b:type, c:type"},
            imad,
            mad24},
      OpDef{"sad",
            "d = c + |a - b|. Integer Arithmetic Instructions: sad.",
            {"sad.type:u16|u32|u64|s16|s32|s64 =d:type, a:type, b:type, c:type"},
            alu,
            ternary<Sad>},
      OpDef{"div",
            "d = a / b, towards zero. Integer Arithmetic Instructions: div.",
            {"div.type:u16|u32|u64|s16|s32|s64 =d:type, a:type, b:type"},
            idiv,
            binary<Div>,
            Operation::divide},
      OpDef{"rem",
            "d = a % b, with the sign of a. Integer Arithmetic Instructions: rem.",
            {"rem.type:u16|u32|u64|s16|s32|s64 =d:type, a:type, b:type"},
            irem,
            binary<Rem>,
            Operation::remainder},
      OpDef{"abs",
            "d = |a|. Integer Arithmetic Instructions: abs.",
            {"abs.type:s16|s32|s64 =d:type, a:type"},
            alu,
            unary<Abs>,
            Operation::absolute},
      OpDef{"neg",
            "d = -a. Integer Arithmetic Instructions: neg.",
            {"neg.type:s16|s32|s64 =d:type, a:type"},
            alu,
            unary<Neg>,
            Operation::negate},
      OpDef{"min",
            "d = the smaller of a and b. Integer Arithmetic Instructions: min.",
            {"min.type:u16|u32|u64|s16|s64 =d:type, a:type, b:type", "min.type:s32 =d:type, a:type, b:type",
             "[8.0 sm_90] min.type:u16x2|s16x2 =d:type, a:type, b:type",
             "[8.0 sm_90] min.relu.type:s16x2|s32 =d:type, a:type, b:type"},
            alu,
            min_max<Min>,
            Operation::minimum},
      OpDef{"max",
            "d = the larger of a and b. Integer Arithmetic Instructions: max.",
            {"max.type:u16|u32|u64|s16|s64 =d:type, a:type, b:type", "max.type:s32 =d:type, a:type, b:type",
             "[8.0 sm_90] max.type:u16x2|s16x2 =d:type, a:type, b:type",
             "[8.0 sm_90] max.relu.type:s16x2|s32 =d:type, a:type, b:type"},
            alu,
            min_max<Max>,
            Operation::maximum},
      OpDef{"popc",
            "d = the number of set bits of a. Integer Arithmetic Instructions: popc.",
            {"popc.type:b32|b64 =d:u32, a:type"},
            popc_like,
            count_bits<Popc>},
      OpDef{"clz",
            "d = the number of leading zeros of a. Integer Arithmetic Instructions: clz.",
            {"clz.type:b32|b64 =d:u32, a:type"},
            popc_like,
            count_bits<Clz>},
      OpDef{"bfind",
            "d = the position of the most significant non-sign bit. Integer Arithmetic Instructions: bfind.",
            {"bfind{.shiftamt}.type:u32|u64|s32|s64 =d:u32, a:type"},
            popc_like,
            bfind},
      OpDef{"fns",
            "d = the position of the n-th set bit. Integer Arithmetic Instructions: fns.",
            {"fns.type:b32 =d:b32, mask:b32, base:b32, offset:s32"},
            idiv,
            fns},
      OpDef{"brev",
            "d = a with its bits reversed. Integer Arithmetic Instructions: brev.",
            {"brev.type:b32|b64 =d:type, a:type"},
            popc_like,
            unary<Brev>},
      OpDef{"bfe",
            "d = the bit field of a. Integer Arithmetic Instructions: bfe.",
            {"bfe.type:u32|u64|s32|s64 =d:type, a:type, b:u32[0..255], c:u32[0..255]"},
            field,
            bfe},
      OpDef{"bfi",
            "f = b with the bit field a put into it. Integer Arithmetic Instructions: bfi.",
            {"bfi.type:b32|b64 =f:type, a:type, b:type, c:u32[0..255], d:u32[0..255]"},
            alu,
            bfi},
      OpDef{"szext",
            "d = a extended from n bits. Integer Arithmetic Instructions: szext.",
            {"[7.6 sm_70] szext.mode:clamp|wrap.type:u32|s32 =d:type, a:type, b:u32"},
            alu,
            szext},
      OpDef{"bmsk",
            "d = a mask of bits. Integer Arithmetic Instructions: bmsk.",
            {"[7.6 sm_70] bmsk.mode:clamp|wrap.type:b32 =d:type, a:type, b:type"},
            alu,
            bmsk},
      OpDef{"dp4a",
            "d = c + the dot product of four bytes. Integer Arithmetic Instructions: dp4a.",
            {"dp4a.atype:u32|s32.btype:u32|s32 =d:b32, a:b32, b:b32, c:b32"},
            imad,
            dp4a},
      OpDef{"dp2a",
            "d = c + the dot product of two halves and two bytes. Integer Arithmetic Instructions: dp2a.",
            {"dp2a.half:lo|hi.atype:u32|s32.btype:u32|s32 =d:b32, a:b32, b:b32, c:b32"},
            imad,
            dp2a},
  };
}

}  // namespace palladion::isa::ops
