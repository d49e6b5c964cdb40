// f16, bf16 and their packed pairs (PTX, "Half Precision Floating Point Instructions" and "Half Precision
// Comparison Instructions").
#include "isa/core/op.h"
#include "isa/num/arith.h"
#include "isa/ops/compare.h"

namespace palladion::isa::ops {
namespace {

using floats::Abs;
using floats::lanes_of;
using floats::Max;
using floats::Min;
using floats::Neg;
using floats::pairs_of;
using num::ArithMods;
using num::Bf16;
using num::bits_of;
using num::F16;
using num::MinMaxMods;
using num::Rounding;
using num::lanes::HalfOp;

constexpr Timing half_pipe{Unit::fma, "hfma"};
constexpr Timing alu{Unit::alu, "alu"};
constexpr Timing half_compare{Unit::fma, "hsetp"};
// A pair takes the unit twice.
Timing mufu(const Instruction& i) { return {Unit::sfu, bits(i.type()) == 32 ? "mufu_x2" : "mufu"}; }

bool is_pair(Type t) { return t == Type::f16x2 || t == Type::bf16x2; }
bool is_bf16(Type t) { return t == Type::bf16 || t == Type::bf16x2; }

template <class F, HalfOp O, ArithMods M, int count>
void arithmetic_lanes(const LaneArgs& a) {
  using Lane = std::conditional_t<count == lanes::warp_size, uint16_t, uint32_t>;
  alignas(32) Lane t[lanes::warp_size];
  num::lanes::half_op<F, O, M>(a.s[0], a.s[1], O == HalfOp::fma ? a.s[2] : a.s[1], t, count);
  lanes::commit(a.d[0], t, a.mask);
}

template <class F, HalfOp O, ArithMods M>
LanesFn arithmetic_for(bool pair) {
  return pair ? arithmetic_lanes<F, O, M, 2 * lanes::warp_size> : arithmetic_lanes<F, O, M, lanes::warp_size>;
}

template <HalfOp O>
Effect arithmetic(const Instruction& i, const DecodeContext&) {
  constexpr Rounding rn = Rounding::rn;
  if (floats::has(i, "oob"))
    return decode::unsupported(i, "the pattern of an out-of-bounds NaN is not documented");
  const bool pair = is_pair(i.type()), ftz = floats::has(i, "ftz"), sat = floats::has(i, "sat"),
             relu = floats::has(i, "relu");
  if (is_bf16(i.type())) {
    if constexpr (O == HalfOp::fma) {
      if (relu) return Pure{arithmetic_for<Bf16, O, ArithMods{rn, false, false, true}>(pair)};
    }
    return Pure{arithmetic_for<Bf16, O, ArithMods{rn}>(pair)};
  }
  if constexpr (O == HalfOp::fma) {
    if (relu && ftz) return Pure{arithmetic_for<F16, O, ArithMods{rn, true, false, true}>(pair)};
    if (relu) return Pure{arithmetic_for<F16, O, ArithMods{rn, false, false, true}>(pair)};
  }
  if (ftz && sat) return Pure{arithmetic_for<F16, O, ArithMods{rn, true, true}>(pair)};
  if (ftz) return Pure{arithmetic_for<F16, O, ArithMods{rn, true}>(pair)};
  if (sat) return Pure{arithmetic_for<F16, O, ArithMods{rn, false, true}>(pair)};
  return Pure{arithmetic_for<F16, O, ArithMods{rn}>(pair)};
}

template <class F, class Op, int sources>
LanesFn on_halves(bool pair) {
  return pair ? pairs_of<F, Op, sources> : lanes_of<F, Op, sources>;
}

template <template <class, bool> class Op>
Effect sign_change(const Instruction& i, const DecodeContext&) {
  const bool pair = is_pair(i.type());
  if (is_bf16(i.type())) return Pure{on_halves<Bf16, Op<Bf16, false>, 1>(pair)};
  return Pure{floats::has(i, "ftz") ? on_halves<F16, Op<F16, true>, 1>(pair)
                                    : on_halves<F16, Op<F16, false>, 1>(pair)};
}

template <template <class, MinMaxMods> class Op>
Effect min_max(const Instruction& i, const DecodeContext&) {
  const MinMaxMods mods{floats::has(i, "ftz"), floats::has(i, "NaN"), floats::has(i, "xorsign")};
  const bool pair = is_pair(i.type()), bf16 = is_bf16(i.type());
  return Pure{num::with_mods(mods, [&]<MinMaxMods M>() -> LanesFn {
    if constexpr (!M.ftz) {
      if (bf16) return on_halves<Bf16, Op<Bf16, M>, 2>(pair);
    }
    return on_halves<F16, Op<F16, M>, 2>(pair);
  })};
}

template <ApproxOp op>
Effect approximate(const Instruction& i, const DecodeContext&) {
  return Approx{op, i.type(), floats::has(i, "ftz")};
}

// Calls f.operator()<Source>() for the source that the type and .ftz name.
template <class Fn>
Pure for_half_source(const Instruction& i, Fn f) {
  if (is_bf16(i.type())) return f.template operator()<compare::ReadHalf<Bf16, false>>();
  if (floats::has(i, "ftz")) return f.template operator()<compare::ReadHalf<F16, true>>();
  return f.template operator()<compare::ReadHalf<F16, false>>();
}

Effect setp(const Instruction& i, const DecodeContext&) {
  return for_half_source(i, [&]<class Source>() {
    return is_pair(i.type()) ? compare::setp_for<Source, true>(i) : compare::setp_for<Source>(i);
  });
}

// To a half from anything, or from halves to anything.
Effect set(const Instruction& i, const DecodeContext&) {
  if (is_pair(i.type()))
    return for_half_source(i, [&]<class Source>() { return compare::set_for<Source, true>(i); });
  switch (i.type()) {
    case Type::f16:
    case Type::bf16:
      return for_half_source(i, [&]<class Source>() { return compare::set_for<Source>(i); });
    case Type::f64:
      return compare::set_for<compare::Read<double>>(i);
    case Type::f32:
      if (floats::has(i, "ftz")) return compare::set_for<compare::ReadF32Flushed>(i);
      return compare::set_for<compare::Read<float>>(i);
    default:
      return lanes::for_integer(i.type(), [&]<class T>() { return compare::set_for<compare::Read<T>>(i); });
  }
}

std::vector<OpDef> arithmetic_defs() {
  return {
      OpDef{"add",
            "d = a + b in halves. Half Precision Floating Point: add.",
            {"[4.2 sm_53] add{.rnd:rn}{.ftz}{.sat}.type:f16|f16x2 =d:type, a:type, b:type",
             "[7.8 sm_90] add{.rnd:rn}.type:bf16|bf16x2 =d:type, a:type, b:type"},
            half_pipe,
            arithmetic<HalfOp::add>,
            Operation::add},
      OpDef{"sub",
            "d = a - b in halves. Half Precision Floating Point: sub.",
            {"[4.2 sm_53] sub{.rnd:rn}{.ftz}{.sat}.type:f16|f16x2 =d:type, a:type, b:type",
             "[7.8 sm_90] sub{.rnd:rn}.type:bf16|bf16x2 =d:type, a:type, b:type"},
            half_pipe,
            arithmetic<HalfOp::sub>,
            Operation::subtract},
      OpDef{"mul",
            "d = a * b in halves. Half Precision Floating Point: mul.",
            {"[4.2 sm_53] mul{.rnd:rn}{.ftz}{.sat}.type:f16|f16x2 =d:type, a:type, b:type",
             "[7.8 sm_90] mul{.rnd:rn}.type:bf16|bf16x2 =d:type, a:type, b:type"},
            half_pipe,
            arithmetic<HalfOp::mul>,
            Operation::multiply},
      OpDef{"fma",
            "d = a * b + c in halves, rounded once. Half Precision Floating Point: fma.",
            {"[4.2 sm_53] fma.rnd:rn{.ftz}{.sat}.type:f16|f16x2 =d:type, a:type, b:type, c:type",
             "[7.0 sm_80] fma.rnd:rn{.ftz}.relu.type:f16|f16x2 =d:type, a:type, b:type, c:type",
             "[7.0 sm_80] fma.rnd:rn{.relu}.type:bf16|bf16x2 =d:type, a:type, b:type, c:type",
             "[8.1 sm_90] fma.rnd:rn.oob{.relu}.type:f16|f16x2|bf16|bf16x2 =d:type, a:type, b:type, c:type"},
            half_pipe,
            arithmetic<HalfOp::fma>,
            Operation::fused_multiply_add},
      OpDef{"neg",
            "d = -a in halves. Half Precision Floating Point: neg.",
            {"[6.0 sm_53] neg{.ftz}.type:f16|f16x2 =d:type, a:type",
             "[7.0 sm_80] neg.type:bf16|bf16x2 =d:type, a:type"},
            alu,
            sign_change<Neg>,
            Operation::negate},
      OpDef{"abs",
            "d = |a| in halves. Half Precision Floating Point: abs.",
            {"[6.5 sm_53] abs{.ftz}.type:f16|f16x2 =d:type, a:type",
             "[7.0 sm_80] abs.type:bf16|bf16x2 =d:type, a:type"},
            alu,
            sign_change<Abs>,
            Operation::absolute},
      OpDef{"min",
            "d = the smaller of a and b in halves, the other one if one is NaN. Half Precision Floating "
            "Point: min.",
            {"[7.0 sm_80] min{.ftz}{.NaN}.type:f16|f16x2 =d:type, a:type, b:type",
             "[7.0 sm_80] min{.NaN}.type:bf16|bf16x2 =d:type, a:type, b:type",
             "[7.2 sm_86] min{.ftz}{.NaN}.xorsign.abs.type:f16|f16x2 =d:type, a:type, b:type",
             "[7.2 sm_86] min{.NaN}.xorsign.abs.type:bf16|bf16x2 =d:type, a:type, b:type"},
            alu,
            min_max<Min>,
            Operation::minimum},
      OpDef{"max",
            "d = the larger of a and b in halves, the other one if one is NaN. Half Precision Floating "
            "Point: max.",
            {"[7.0 sm_80] max{.ftz}{.NaN}.type:f16|f16x2 =d:type, a:type, b:type",
             "[7.0 sm_80] max{.NaN}.type:bf16|bf16x2 =d:type, a:type, b:type",
             "[7.2 sm_86] max{.ftz}{.NaN}.xorsign.abs.type:f16|f16x2 =d:type, a:type, b:type",
             "[7.2 sm_86] max{.NaN}.xorsign.abs.type:bf16|bf16x2 =d:type, a:type, b:type"},
            alu,
            min_max<Max>,
            Operation::maximum},
      OpDef{"tanh",
            "d = tanh(a) in halves. Half Precision Floating Point: tanh.",
            {"[7.0 sm_75] tanh.approx.type:f16|f16x2 =d:type, a:type",
             "[7.8 sm_90] tanh.approx.type:bf16|bf16x2 =d:type, a:type"},
            mufu,
            approximate<ApproxOp::tanh>,
            Operation::function},
      OpDef{"ex2",
            "d = 2^a in halves. Half Precision Floating Point: ex2.",
            {"[7.0 sm_75] ex2.approx.type:f16|f16x2 =d:type, a:type",
             "[7.8 sm_90] ex2.approx.ftz.type:bf16|bf16x2 =d:type, a:type"},
            mufu,
            approximate<ApproxOp::ex2>,
            Operation::function},
  };
}

#define PLD_FLOAT_CMP "cmp:eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
#define PLD_AB " =d:dtype, a:type, b:type"

std::vector<OpDef> comparison_defs() {
  return {
      OpDef{"setp",
            "p = a cmp b (of a pair: p for the low halves, q for the high ones). Half Precision Comparison: "
            "setp.",
            decode::expand({"[4.2 sm_53] setp." PLD_FLOAT_CMP
                            "<b:;.bool:%bool>{.ftz}.type:f16 =p:pred, a:type, b:type<b:;, c:pred>",
                            "[4.2 sm_53] setp." PLD_FLOAT_CMP
                            "<b:;.bool:%bool>{.ftz}.type:f16x2 =p:pred|=q?:pred, a:type, b:type<b:;, c:pred>",
                            "[7.8 sm_90] setp." PLD_FLOAT_CMP
                            "<b:;.bool:%bool>.type:bf16 =p:pred, a:type, b:type<b:;, c:pred>",
                            "[7.8 sm_90] setp." PLD_FLOAT_CMP
                            "<b:;.bool:%bool>.type:bf16x2 =p:pred|=q?:pred, a:type, b:type<b:;, c:pred>"}),
            half_compare, setp, Operation::compare},
      OpDef{
          "set", "d = all ones (1.0) where a cmp b, to or from halves. Half Precision Comparison: set.",
          decode::expand(
              {"[4.2 sm_53] set." PLD_FLOAT_CMP "<b:;.bool:%bool>{.ftz}.dtype:f16.type:f16|f32" PLD_AB
               "<b:;, c:pred>",
               "[4.2 sm_53] set." PLD_FLOAT_CMP "<b:;.bool:%bool>.dtype:f16.type:f64" PLD_AB "<b:;, c:pred>",
               "[7.8 sm_90] set." PLD_FLOAT_CMP "<b:;.bool:%bool>.dtype:bf16.type:f16|bf16|f32|f64" PLD_AB
               "<b:;, c:pred>",
               "[4.2 sm_53] set.cmp:eq|ne<b:;.bool:%bool>.dtype:f16.type:b16|b32|b64" PLD_AB "<b:;, c:pred>",
               "[7.8 sm_90] set.cmp:eq|ne<b:;.bool:%bool>.dtype:bf16.type:b16|b32|b64" PLD_AB "<b:;, c:pred>",
               "[4.2 sm_53] "
               "set.cmp:eq|ne|lt|le|gt|ge|lo|ls|hi|hs<b:;.bool:%bool>.dtype:f16.type:u16|u32|u64" PLD_AB
               "<b:;, c:pred>",
               "[7.8 sm_90] "
               "set.cmp:eq|ne|lt|le|gt|ge|lo|ls|hi|hs<b:;.bool:%bool>.dtype:bf16.type:u16|u32|u64" PLD_AB
               "<b:;, c:pred>",
               "[4.2 sm_53] set.cmp:eq|ne|lt|le|gt|ge<b:;.bool:%bool>.dtype:f16.type:s16|s32|s64" PLD_AB
               "<b:;, c:pred>",
               "[7.8 sm_90] set.cmp:eq|ne|lt|le|gt|ge<b:;.bool:%bool>.dtype:bf16.type:s16|s32|s64" PLD_AB
               "<b:;, c:pred>",
               "[6.5 sm_53] set." PLD_FLOAT_CMP "<b:;.bool:%bool>{.ftz}.dtype:u16|s16|u32|s32.type:f16" PLD_AB
               "<b:;, c:pred>",
               "[7.8 sm_90] set." PLD_FLOAT_CMP "<b:;.bool:%bool>.dtype:u16|s16|u32|s32.type:bf16" PLD_AB
               "<b:;, c:pred>",
               "[4.2 sm_53] set." PLD_FLOAT_CMP "<b:;.bool:%bool>{.ftz}.dtype:f16x2.type:f16x2" PLD_AB
               "<b:;, c:pred>",
               "[6.5 sm_53] set." PLD_FLOAT_CMP "<b:;.bool:%bool>{.ftz}.dtype:u32|s32.type:f16x2" PLD_AB
               "<b:;, c:pred>",
               "[7.8 sm_90] set." PLD_FLOAT_CMP "<b:;.bool:%bool>.dtype:bf16x2|u32|s32.type:bf16x2" PLD_AB
               "<b:;, c:pred>"}),
          half_compare, set, Operation::set},
  };
}

}  // namespace

std::vector<OpDef> half() { return joined({arithmetic_defs(), comparison_defs()}); }

}  // namespace palladion::isa::ops
