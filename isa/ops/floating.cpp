// f32 and f64: what rounds, and approximate functions (PTX, "Floating Point Instructions").
#include "isa/core/op.h"
#include "isa/num/arith.h"
#include "isa/ops/directed.h"
#include "isa/ops/floats.h"

namespace palladion::isa::ops {
namespace {

using floats::for_rounding;
using floats::lanes_of;
using num::ArithMods;
using num::bits_of;
using num::F32;
using num::F64;
using num::Rounding;

Timing fma_pipe(const Instruction& i) {
  return i.type() == Type::f64 ? Timing{Unit::fp64, "dfma"} : Timing{Unit::fma, "ffma"};
}
// MUFU; without .ftz ptxas scales what is too small for it, before and after.
Timing mufu(const Instruction& i) {
  if (i.type() == Type::f64) return {Unit::sfu, "mufu64"};
  return {Unit::sfu, floats::has(i, "ftz") ? "mufu" : "mufu_scaled"};
}
// sin, cos: of revolutions, by a multiplication in front. tanh has no .ftz.
constexpr Timing revolutions{Unit::sfu, "mufu_pair"};
// ptxas makes a sequence of what has a rounding, with a slow path behind a branch.
Timing quotient(const Instruction& i) {
  if (i.type() == Type::f64) return {Unit::fp64, floats::has(i, "approx") ? "mufu64" : "ddiv"};
  return floats::has(i, "rnd") ? Timing{Unit::fma, "fdiv"} : mufu(i);
}
Timing reciprocal(const Instruction& i) {
  const Timing t = quotient(i);
  return t.latency == "fdiv" ? Timing{Unit::fma, "frcp"} : t;
}
Timing division(const Instruction& i) {
  if (i.type() == Type::f64 || floats::has(i, "rnd")) return quotient(i);
  const bool ftz = floats::has(i, "ftz");
  if (i.mod("mode") == "full") return {Unit::sfu, ftz ? "mufu_scaled" : "fdiv_full"};
  return {Unit::sfu, ftz ? "mufu_pair" : "mufu_scaled"};
}

template <class F, ArithMods M>
struct Add {
  static __m256 host(__m256 a, __m256 b, __m256) { return _mm256_add_ps(a, b); }
  auto operator()(bits_of<F> a, bits_of<F> b) const { return num::add<F, M>(a, b); }
};
template <class F, ArithMods M>
struct Sub {
  static __m256 host(__m256 a, __m256 b, __m256) { return _mm256_sub_ps(a, b); }
  auto operator()(bits_of<F> a, bits_of<F> b) const { return num::sub<F, M>(a, b); }
};
template <class F, ArithMods M>
struct Mul {
  static __m256 host(__m256 a, __m256 b, __m256) { return _mm256_mul_ps(a, b); }
  auto operator()(bits_of<F> a, bits_of<F> b) const { return num::mul<F, M>(a, b); }
};
template <class F, ArithMods M>
struct Fma {
  static __m256 host(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
  auto operator()(bits_of<F> a, bits_of<F> b, bits_of<F> c) const { return num::fma<F, M>(a, b, c); }
};
template <class F, ArithMods M>
struct Div {
  auto operator()(bits_of<F> a, bits_of<F> b) const { return num::div<F, M>(a, b); }
};
template <class F, ArithMods M>
struct Rcp {
  auto operator()(bits_of<F> a) const { return num::rcp<F, M>(a); }
};
template <class F, ArithMods M>
struct Sqrt {
  auto operator()(bits_of<F> a) const { return num::sqrt<F, M>(a); }
};
// `count` elements: 32, or 64 of f32x2.
template <template <class, ArithMods> class Op, ArithMods M, int sources, int count = lanes::warp_size>
LanesFn f32_rounded() {
  if constexpr ((M.rounding != Rounding::rn || M.ftz) && requires { &Op<F32, M>::host; }) {
    return directed::f32_lanes<Op<F32, M>, M, sources, count>;
  } else {
    return floats::elements<Op<F32, M>, uint32_t, count, sources>;
  }
}

// `has_sat`: division and roots have no .sat.
template <template <class, ArithMods> class Op, int sources, bool has_sat>
Effect rounded(const Instruction& i, const DecodeContext&) {
  const Rounding rounding = floats::rounding_named(i.mod("rnd"));
  const bool ftz = floats::has(i, "ftz"), sat = floats::has(i, "sat");
  const bool wide = i.type() == Type::f64;
  return Pure{for_rounding(rounding, [&]<Rounding R>() -> LanesFn {
    if (wide) return lanes_of<F64, Op<F64, ArithMods{R}>, sources>;
    if constexpr (has_sat) {
      if (sat && ftz) return f32_rounded<Op, ArithMods{R, true, true}, sources>();
      if (sat) return f32_rounded<Op, ArithMods{R, false, true}, sources>();
    }
    if (ftz) return f32_rounded<Op, ArithMods{R, true}, sources>();
    return f32_rounded<Op, ArithMods{R}, sources>();
  })};
}

// Pairs of f32, element by element.
template <template <class, ArithMods> class Op, int sources>
Effect rounded_pairs(const Instruction& i, const DecodeContext&) {
  constexpr int elements = 2 * lanes::warp_size;
  const bool ftz = floats::has(i, "ftz");
  return Pure{for_rounding(floats::rounding_named(i.mod("rnd")), [&]<Rounding R>() -> LanesFn {
    if (ftz) return f32_rounded<Op, ArithMods{R, true}, sources, elements>();
    return f32_rounded<Op, ArithMods{R}, sources, elements>();
  })};
}

// The last operand is f32, the others are halves, which f32 holds exactly.
template <class Half, class Op>
struct OfHalves {
  uint32_t operator()(bits_of<Half> a, uint32_t c) const { return Op{}(num::to_f32_bits<Half>(a), c); }
  uint32_t operator()(bits_of<Half> a, bits_of<Half> b, uint32_t c) const {
    return Op{}(num::to_f32_bits<Half>(a), num::to_f32_bits<Half>(b), c);
  }
};
template <class Half, class Op, int sources>
LanesFn mixed_lanes() {
  using F = OfHalves<Half, Op>;
  if constexpr (sources == 2) return lanes::apply<F, uint32_t, bits_of<Half>, uint32_t>;
  if constexpr (sources == 3) return lanes::apply<F, uint32_t, bits_of<Half>, bits_of<Half>, uint32_t>;
}

template <template <class, ArithMods> class Op, int sources>
Effect rounded_mixed(const Instruction& i, const DecodeContext&) {
  const bool sat = floats::has(i, "sat"), bf16 = i.type("atype") == Type::bf16;
  return Pure{for_rounding(floats::rounding_named(i.mod("rnd")), [&]<Rounding R>() -> LanesFn {
    using Plain = Op<F32, ArithMods{R}>;
    using Sat = Op<F32, ArithMods{R, false, true}>;
    if (bf16) return sat ? mixed_lanes<num::Bf16, Sat, sources>() : mixed_lanes<num::Bf16, Plain, sources>();
    return sat ? mixed_lanes<num::F16, Sat, sources>() : mixed_lanes<num::F16, Plain, sources>();
  })};
}

template <ApproxOp op>
Effect approximate(const Instruction& i, const DecodeContext&) {
  return Approx{op, i.type(), floats::has(i, "ftz")};
}

template <ApproxOp op, template <class, ArithMods> class Op>
Effect rounded_or_approximate(const Instruction& i, const DecodeContext& c) {
  return floats::has(i, "approx") ? approximate<op>(i, c) : rounded<Op, 1, false>(i, c);
}

Effect div(const Instruction& i, const DecodeContext& c) {
  if (floats::has(i, "rnd")) return rounded<Div, 2, false>(i, c);
  return i.mod("mode") == "full" ? approximate<ApproxOp::div_full>(i, c) : approximate<ApproxOp::div>(i, c);
}

std::vector<OpDef> arithmetic() {
  return {
      OpDef{"add",
            "d = a + b. Without a rounding ptxas may fuse it into an fma (--fmad), f32x2 with one, too. "
            "Floating Point: add.",
            {"add{.rnd:%rnd}{.ftz}{.sat}.type:f32 =d:type, a:type, b:type",
             "add{.rnd:%rnd}.type:f64 =d:type, a:type, b:type"},
            fma_pipe,
            rounded<Add, 2, true>,
            Operation::add},
      OpDef{"sub",
            "d = a - b. Without a rounding ptxas may fuse it into an fma (--fmad), f32x2 with one, too. "
            "Floating Point: sub.",
            {"sub{.rnd:%rnd}{.ftz}{.sat}.type:f32 =d:type, a:type, b:type",
             "sub{.rnd:%rnd}.type:f64 =d:type, a:type, b:type"},
            fma_pipe,
            rounded<Sub, 2, true>,
            Operation::subtract},
      OpDef{"mul",
            "d = a * b. Without a rounding ptxas may fuse it into an fma (--fmad), f32x2 with one, too. "
            "Floating Point: mul.",
            {"mul{.rnd:%rnd}{.ftz}{.sat}.type:f32 =d:type, a:type, b:type",
             "mul{.rnd:%rnd}.type:f64 =d:type, a:type, b:type"},
            fma_pipe,
            rounded<Mul, 2, true>,
            Operation::multiply},
      OpDef{"fma",
            "d = a * b + c, rounded once. Floating Point: fma.",
            {"fma.rnd:%rnd{.ftz}{.sat}.type:f32 =d:type, a:type, b:type, c:type",
             "fma.rnd:%rnd.type:f64 =d:type, a:type, b:type, c:type"},
            fma_pipe,
            rounded<Fma, 3, true>,
            Operation::fused_multiply_add},
      OpDef{"mad",
            "d = a * b + c, rounded once: another name of fma. Floating Point: mad.",
            {"mad.rnd:%rnd{.ftz}{.sat}.type:f32 =d:type, a:type, b:type, c:type",
             "mad.rnd:%rnd.type:f64 =d:type, a:type, b:type, c:type"},
            fma_pipe,
            rounded<Fma, 3, true>,
            Operation::multiply_add},
      OpDef{"div",
            "d = a / b: correctly rounded, or within 2 ulp. Floating Point: div.",
            {"div.mode:approx|full{.ftz}.type:f32 =d:type, a:type, b:type",
             "div.rnd:%rnd{.ftz}.type:f32 =d:type, a:type, b:type",
             "div.rnd:%rnd.type:f64 =d:type, a:type, b:type"},
            division,
            div,
            Operation::divide},
  };
}

std::vector<OpDef> pairs() {
  constexpr Timing pipe{Unit::fma, "ffma"};
  return {
      OpDef{"add",
            "d = a + b in both elements. Floating Point: add.",
            {"[8.6 sm_100] add{.rnd:%rnd}{.ftz}.type:f32x2 =d:type, a:type, b:type"},
            pipe,
            rounded_pairs<Add, 2>,
            Operation::add},
      OpDef{"sub",
            "d = a - b in both elements. Floating Point: sub.",
            {"[8.6 sm_100] sub{.rnd:%rnd}{.ftz}.type:f32x2 =d:type, a:type, b:type"},
            pipe,
            rounded_pairs<Sub, 2>,
            Operation::subtract},
      OpDef{"mul",
            "d = a * b in both elements. Floating Point: mul.",
            {"[8.6 sm_100] mul{.rnd:%rnd}{.ftz}.type:f32x2 =d:type, a:type, b:type"},
            pipe,
            rounded_pairs<Mul, 2>,
            Operation::multiply},
      OpDef{"fma",
            "d = a * b + c in both elements, rounded once. Floating Point: fma.",
            {"[8.6 sm_100] fma.rnd:%rnd{.ftz}.type:f32x2 =d:type, a:type, b:type, c:type"},
            pipe,
            rounded_pairs<Fma, 3>,
            Operation::fused_multiply_add},
  };
}

std::vector<OpDef> mixed() {
  constexpr Timing pipe{Unit::fma, "ffma"};
  return {
      OpDef{"add",
            "d = a + b, a a half. Mixed Precision Floating Point: add.",
            {"[8.6 sm_100] add{.rnd:%rnd}{.sat}.type:f32.atype:f16|bf16 =d:type, a:atype, b:type"},
            pipe,
            rounded_mixed<Add, 2>,
            Operation::add},
      OpDef{"sub",
            "d = a - b, a a half. Mixed Precision Floating Point: sub.",
            {"[8.6 sm_100] sub{.rnd:%rnd}{.sat}.type:f32.atype:f16|bf16 =d:type, a:atype, b:type"},
            pipe,
            rounded_mixed<Sub, 2>,
            Operation::subtract},
      OpDef{"fma",
            "d = a * b + c, a and b halves, rounded once. Mixed Precision Floating Point: fma.",
            {"[8.6 sm_100] fma.rnd:%rnd{.sat}.type:f32.atype:f16|bf16 =d:type, a:atype, b:atype, c:type"},
            pipe,
            rounded_mixed<Fma, 3>,
            Operation::fused_multiply_add},
  };
}

std::vector<OpDef> functions() {
  return {
      OpDef{"rcp",
            "d = 1 / a. Floating Point: rcp, rcp.approx.ftz.f64.",
            {"rcp.approx{.ftz}.type:f32 =d:type, a:type", "rcp.rnd:%rnd{.ftz}.type:f32 =d:type, a:type",
             "rcp.rnd:%rnd.type:f64 =d:type, a:type", "[2.1 sm_20] rcp.approx.ftz.type:f64 =d:type, a:type"},
            reciprocal,
            rounded_or_approximate<ApproxOp::rcp, Rcp>,
            Operation::function},
      OpDef{"sqrt",
            "d = the square root of a. Floating Point: sqrt.",
            {"sqrt.approx{.ftz}.type:f32 =d:type, a:type", "sqrt.rnd:%rnd{.ftz}.type:f32 =d:type, a:type",
             "sqrt.rnd:%rnd.type:f64 =d:type, a:type"},
            quotient,
            rounded_or_approximate<ApproxOp::sqrt, Sqrt>,
            Operation::function},
      OpDef{"rsqrt",
            "d = 1 / sqrt(a). Floating Point: rsqrt, rsqrt.approx.ftz.f64.",
            {"rsqrt.approx{.ftz}.type:f32 =d:type, a:type", "rsqrt.approx.type:f64 =d:type, a:type",
             "[4.0 sm_20] rsqrt.approx.ftz.type:f64 =d:type, a:type"},
            mufu,
            approximate<ApproxOp::rsqrt>,
            Operation::function},
      OpDef{"sin",
            "d = sin(a), a in radians. Floating Point: sin.",
            {"sin.approx{.ftz}.type:f32 =d:type, a:type"},
            revolutions,
            approximate<ApproxOp::sin>,
            Operation::function},
      OpDef{"cos",
            "d = cos(a), a in radians. Floating Point: cos.",
            {"cos.approx{.ftz}.type:f32 =d:type, a:type"},
            revolutions,
            approximate<ApproxOp::cos>,
            Operation::function},
      OpDef{"lg2",
            "d = log2(a). Floating Point: lg2.",
            {"lg2.approx{.ftz}.type:f32 =d:type, a:type"},
            mufu,
            approximate<ApproxOp::lg2>,
            Operation::function},
      OpDef{"ex2",
            "d = 2^a. Floating Point: ex2.",
            {"ex2.approx{.ftz}.type:f32 =d:type, a:type"},
            mufu,
            approximate<ApproxOp::ex2>,
            Operation::function},
      OpDef{"tanh",
            "d = tanh(a). Floating Point: tanh.",
            {"[7.0 sm_75] tanh.approx.type:f32 =d:type, a:type"},
            Timing{Unit::sfu, "mufu"},
            approximate<ApproxOp::tanh>,
            Operation::function},
  };
}

}  // namespace

std::vector<OpDef> floating() {
  return joined({arithmetic(), signs_and_order(), pairs(), mixed(), functions(), tests()});
}

}  // namespace palladion::isa::ops
