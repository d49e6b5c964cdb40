// f32 and f64: what changes signs, compares and selects (PTX, "Floating Point Instructions" and "Comparison
// and Selection Instructions").
#include "isa/core/op.h"
#include "isa/num/order.h"
#include "isa/ops/compare.h"
#include "isa/ops/floats.h"

namespace palladion::isa::ops {
namespace {

using floats::Abs;
using floats::lanes_of;
using floats::Max;
using floats::Min;
using floats::Neg;
using num::bits_of;
using num::F32;
using num::F64;
using num::MinMaxMods;

Timing alu(const Instruction& i) {
  return i.type() == Type::f64 ? Timing{Unit::fp64, "dsetp"} : Timing{Unit::alu, "alu"};
}

template <class F>
struct Copysign {
  auto operator()(bits_of<F> a, bits_of<F> b) const { return num::copysign<F>(a, b); }
};
template <class F, num::TestClass wanted>
struct Testp {
  bool operator()(bits_of<F> a) const { return num::testp<F>(wanted, a); }
};

template <template <class, bool> class Op>
Effect sign_change(const Instruction& i, const DecodeContext&) {
  if (i.type() == Type::f64) return Pure{lanes_of<F64, Op<F64, false>, 1>};
  return Pure{floats::has(i, "ftz") ? lanes_of<F32, Op<F32, true>, 1> : lanes_of<F32, Op<F32, false>, 1>};
}

// With .abs, of the magnitudes.
template <class Op, bool magnitudes>
struct OfThree {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    constexpr uint32_t kept = magnitudes ? F32::magnitude_mask : ~0U;
    return Op{}(Op{}(a & kept, b & kept), c & kept);
  }
};

template <template <class, MinMaxMods> class Op>
Effect min_max_of_three(const Instruction& i) {
  const bool magnitudes = floats::has(i, "abs");
  const MinMaxMods mods{floats::has(i, "ftz"), floats::has(i, "NaN")};
  return Pure{num::with_mods(mods, [&]<MinMaxMods M>() -> LanesFn {
    using Two = Op<F32, M>;
    return magnitudes ? lanes_of<F32, OfThree<Two, true>, 3> : lanes_of<F32, OfThree<Two, false>, 3>;
  })};
}

template <template <class, MinMaxMods> class Op>
Effect min_max(const Instruction& i, const DecodeContext&) {
  if (i.form->operand("c") >= 0) return min_max_of_three<Op>(i);
  if (i.type() == Type::f64) return Pure{lanes_of<F64, Op<F64, MinMaxMods{}>, 2>};
  const MinMaxMods mods{floats::has(i, "ftz"), floats::has(i, "NaN"), floats::has(i, "xorsign")};
  return Pure{num::with_mods(mods, []<MinMaxMods M>() -> LanesFn { return lanes_of<F32, Op<F32, M>, 2>; })};
}

Effect copysign(const Instruction& i, const DecodeContext&) {
  return Pure{i.type() == Type::f64 ? lanes_of<F64, Copysign<F64>, 2> : lanes_of<F32, Copysign<F32>, 2>};
}

template <num::TestClass wanted>
LanesFn testp_for(Type type) {
  return type == Type::f64 ? lanes::test_into<Testp<F64, wanted>, uint64_t>
                           : lanes::test_into<Testp<F32, wanted>, uint32_t>;
}

Effect testp(const Instruction& i, const DecodeContext&) {
  using C = num::TestClass;
  const std::string_view test = i.mod("test");
  if (test == "finite") return Pure{testp_for<C::finite>(i.type())};
  if (test == "infinite") return Pure{testp_for<C::infinite>(i.type())};
  if (test == "number") return Pure{testp_for<C::number>(i.type())};
  if (test == "notanumber") return Pure{testp_for<C::notanumber>(i.type())};
  if (test == "normal") return Pure{testp_for<C::normal>(i.type())};
  return Pure{testp_for<C::subnormal>(i.type())};
}

// Calls f.operator()<Source>() for the source that the type and .ftz name.
template <class Fn>
Effect for_source(const Instruction& i, Fn f) {
  if (i.type() == Type::f64) return f.template operator()<compare::Read<double>>();
  if (floats::has(i, "ftz")) return f.template operator()<compare::ReadF32Flushed>();
  return f.template operator()<compare::Read<float>>();
}

Effect setp(const Instruction& i, const DecodeContext&) {
  return for_source(i, [&]<class Source>() { return compare::setp_for<Source>(i); });
}
Effect set(const Instruction& i, const DecodeContext&) {
  return for_source(i, [&]<class Source>() { return compare::set_for<Source>(i); });
}

#define PLD_FLOAT_CMP "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"

}  // namespace

std::vector<OpDef> signs_and_order() {
  return {
      OpDef{"abs",
            "d = |a|. Floating Point: abs.",
            {"abs{.ftz}.type:f32 =d:type, a:type", "abs.type:f64 =d:type, a:type"},
            alu,
            sign_change<Abs>,
            Operation::absolute},
      OpDef{"neg",
            "d = -a. Floating Point: neg.",
            {"neg{.ftz}.type:f32 =d:type, a:type", "neg.type:f64 =d:type, a:type"},
            alu,
            sign_change<Neg>,
            Operation::negate},
      OpDef{"min",
            "d = the smallest of a, b and perhaps c, NaN left out. Floating Point: min.",
            {"min{.ftz}.type:f32 =d:type, a:type, b:type",
             "[7.0 sm_80] min{.ftz}.NaN.type:f32 =d:type, a:type, b:type",
             "[7.2 sm_86] min{.ftz}{.NaN}.xorsign.abs.type:f32 =d:type, a:type, b:type",
             "min.type:f64 =d:type, a:type, b:type",
             "[8.8 sm_100] min{.ftz}{.NaN}{.abs}.type:f32 =d:type, a:type, b:type, c:type"},
            alu,
            min_max<Min>,
            Operation::minimum},
      OpDef{"max",
            "d = the largest of a, b and perhaps c, NaN left out. Floating Point: max.",
            {"max{.ftz}.type:f32 =d:type, a:type, b:type",
             "[7.0 sm_80] max{.ftz}.NaN.type:f32 =d:type, a:type, b:type",
             "[7.2 sm_86] max{.ftz}{.NaN}.xorsign.abs.type:f32 =d:type, a:type, b:type",
             "max.type:f64 =d:type, a:type, b:type",
             "[8.8 sm_100] max{.ftz}{.NaN}{.abs}.type:f32 =d:type, a:type, b:type, c:type"},
            alu,
            min_max<Max>,
            Operation::maximum},
      OpDef{"copysign",
            "d = b with the sign of a. Floating Point: copysign.",
            {"[2.0 sm_20] copysign.type:f32|f64 =d:type, a:type, b:type"},
            alu,
            copysign,
            Operation::copy_sign},
  };
}

std::vector<OpDef> tests() {
  return {
      OpDef{"testp",
            "p = a is finite, infinite, a number, no number, normal (or zero), subnormal. Floating Point: "
            "testp.",
            {"[2.0 sm_20] testp.test:finite|infinite|number|notanumber|normal|subnormal.type:f32|f64 "
             "=p:pred, a:type"},
            alu,
            testp},
      OpDef{"setp",
            "p = a cmp b, and q its complement, each combined with c. Comparison and Selection: setp.",
            {"setp.cmp:" PLD_FLOAT_CMP "{.ftz}.type:f32 =p:pred|=q?:pred, a:type, b:type",
             "setp.cmp:" PLD_FLOAT_CMP ".type:f64 =p:pred|=q?:pred, a:type, b:type",
             "setp.cmp:" PLD_FLOAT_CMP ".bool:%bool{.ftz}.type:f32 =p:pred|=q?:pred, a:type, b:type, c:pred",
             "setp.cmp:" PLD_FLOAT_CMP ".bool:%bool.type:f64 =p:pred|=q?:pred, a:type, b:type, c:pred"},
            alu,
            setp,
            Operation::compare},
      OpDef{"set",
            "d = all ones (1.0f) where a cmp b. Comparison and Selection: set.",
            {"set.cmp:" PLD_FLOAT_CMP "{.ftz}.dtype:u32|s32|f32.type:f32 =d:dtype, a:type, b:type",
             "set.cmp:" PLD_FLOAT_CMP ".dtype:u32|s32|f32.type:f64 =d:dtype, a:type, b:type",
             "set.cmp:" PLD_FLOAT_CMP
             ".bool:%bool{.ftz}.dtype:u32|s32|f32.type:f32 =d:dtype, a:type, b:type, c:pred",
             "set.cmp:" PLD_FLOAT_CMP
             ".bool:%bool.dtype:u32|s32|f32.type:f64 =d:dtype, a:type, b:type, c:pred"},
            alu,
            set,
            Operation::set},
  };
}

}  // namespace palladion::isa::ops
