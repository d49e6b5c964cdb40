// f32 functions out of the chip's approximate instructions, range reductions and polynomials. With
// approx_math the instruction alone answers.
#include <bit>
#include <initializer_list>

#include "frontend/core/elementwise.h"

namespace palladion::frontend {
namespace {

struct F32 {
  Recorder& r;
  using V = Operand;
  static V c(double v) { return Operand::f32(std::bit_cast<uint32_t>(static_cast<float>(v))); }
  V one(std::string_view op, const V& x) const { return r.pure(op, {x}, Type::f32); }
  V add(const V& a, const V& b) const { return r.pure("add.rn.f32", {a, b}, Type::f32); }
  V sub(const V& a, const V& b) const { return r.pure("sub.rn.f32", {a, b}, Type::f32); }
  V mul(const V& a, const V& b) const { return r.pure("mul.rn.f32", {a, b}, Type::f32); }
  V fma(const V& a, const V& b, const V& d) const { return r.pure("fma.rn.f32", {a, b, d}, Type::f32); }
  V neg(const V& a) const { return one("neg.f32", a); }
  V abs(const V& a) const { return one("abs.f32", a); }
  V rcp(const V& a) const { return one("rcp.rn.f32", a); }
  V lt(const V& a, const V& b) const { return r.pure("setp.lt.f32", {a, b}, Type::pred); }
  V select(const V& p, const V& a, const V& b) const { return r.pure("selp.f32", {a, b, p}, Type::f32); }
  V bits(const V& a) const { return r.pure("mov.b32", {a}, Type::b32); }
  V from_bits(const V& a) const { return r.pure("mov.b32", {a}, Type::f32); }
  V horner(const V& x, std::initializer_list<double> highest_first) const {
    auto it = highest_first.begin();
    V sum = r.pure("mov.f32", {c(*it++)}, Type::f32);
    for (; it != highest_first.end(); ++it) sum = fma(sum, x, c(*it));
    return sum;
  }
};
using V = Operand;

// 2^n as a factor: n in [-126, 127], a whole number held in a float.
V power_of_two(const F32& f, const V& n) {
  const V i = f.r.pure("cvt.rni.s32.f32", {n}, Type::b32);
  return f.from_bits(
      f.r.pure("add.s32", {f.r.pure("shl.b32", {i, Operand::imm(23)}, Type::b32), Operand::imm(127 << 23)},
               Type::b32));
}

// e^x = 2^n e^r with |r| <= ln 2 / 2; 2^n in two factors so that results down to the subnormals come
// out rounded once.
V exp(const F32& f, const V& x) {
  if (f.r.options().approx_math) return f.one("ex2.approx.ftz.f32", f.mul(x, F32::c(1.4426950408889634)));
  const V low = f.r.pure("max.NaN.f32", {x, F32::c(-104.0)}, Type::f32);
  const V clamped = f.r.pure("min.NaN.f32", {low, F32::c(89.0)}, Type::f32);
  const V n = f.one("cvt.rni.f32.f32", f.mul(clamped, F32::c(1.4426950408889634)));
  V rest = f.fma(n, F32::c(-0.693145751953125), clamped);
  rest = f.fma(n, F32::c(-1.42860682030941723212e-6), rest);
  const V p =
      f.horner(rest, {1.9841270e-4, 1.3888889e-3, 8.3333333e-3, 4.1666667e-2, 1.6666667e-1, 0.5, 1.0, 1.0});
  const V half = f.one("cvt.rmi.f32.f32", f.mul(n, F32::c(0.5)));
  const V scaled = f.mul(p, power_of_two(f, half));
  return f.mul(scaled, power_of_two(f, f.sub(n, half)));
}

// Without .ftz ptxas scales small arguments up and results down: three instructions an element more.
V exp2(const F32& f, const V& x) {
  return f.one(f.r.options().approx_math ? "ex2.approx.ftz.f32" : "ex2.approx.f32", x);
}

// x = 2^e m with m in [2/3, 4/3); a polynomial gives log m. Zero, infinity and negative numbers take
// the instruction's answers, which are exact there.
struct Split {
  V exponent, mantissa;
};
Split split(const F32& f, const V& x) {
  // Subnormals are scaled up first.
  const V tiny = f.lt(x, F32::c(1.17549435e-38));
  const V scaled = f.select(tiny, f.mul(x, F32::c(8388608.0)), x);
  const V bias = f.select(tiny, F32::c(-23.0), F32::c(0.0));
  const V i = f.bits(scaled);
  const V offset = f.r.pure("sub.s32", {i, Operand::imm(0x3F2AAAAB)}, Type::b32);
  const V high = f.r.pure("and.b32", {offset, Operand::imm(static_cast<int64_t>(0xFF800000))}, Type::b32);
  const V mantissa = f.from_bits(f.r.pure("sub.s32", {i, high}, Type::b32));
  const V e = f.r.pure("cvt.rn.f32.s32", {high}, Type::f32);
  return {f.fma(e, F32::c(1.1920929e-7), bias), mantissa};
}

// log(1 + t) - t for |t| <= 1/3, as t^2 times a polynomial (fitted; error below 1e-8).
V log1p_tail(const F32& f, const V& t) {
  const V p = f.horner(t, {-0.130310059, 0.140869141, -0.121483512, 0.139814854, -0.166846126, 0.200120345,
                           -0.249996200, 0.333331972, -0.5});
  return f.mul(f.mul(p, t), t);
}

V special_log(const F32& f, const V& x, const V& answer) {
  const V positive = f.r.pure("setp.gt.f32", {x, F32::c(0.0)}, Type::pred);
  const V finite = f.r.pure("setp.lt.f32", {x, Operand::f32(0x7F800000)}, Type::pred);
  return f.select(f.r.pure("and.pred", {positive, finite}, Type::pred), answer, f.one("lg2.approx.f32", x));
}

V log(const F32& f, const V& x) {
  if (f.r.options().approx_math) return f.mul(f.one("lg2.approx.ftz.f32", x), F32::c(0.6931471805599453));
  const Split s = split(f, x);
  const V t = f.sub(s.mantissa, F32::c(1.0));
  return special_log(f, x, f.fma(s.exponent, F32::c(0.6931471805599453), f.add(t, log1p_tail(f, t))));
}

V log2(const F32& f, const V& x) {
  if (f.r.options().approx_math) return f.one("lg2.approx.ftz.f32", x);
  const Split s = split(f, x);
  const V t = f.sub(s.mantissa, F32::c(1.0));
  const V natural = f.add(t, log1p_tail(f, t));
  return special_log(f, x, f.fma(natural, F32::c(1.4426950408889634), s.exponent));
}

// log(1 + x): what rounding 1 + x loses is given back (Kahan).
V log1p(const F32& f, const V& x) {
  const V u = f.add(x, F32::c(1.0));
  const V lost = f.sub(x, f.sub(u, F32::c(1.0)));
  const V corrected = f.add(log(f, u), f.mul(lost, f.rcp(u)));
  const V infinite = f.r.pure("setp.eq.f32", {u, Operand::f32(0x7F800000)}, Type::pred);
  const V zero = f.r.pure("setp.eq.f32", {u, F32::c(0.0)}, Type::pred);
  const V special = f.r.pure("or.pred", {infinite, zero}, Type::pred);
  return f.select(special, f.one("lg2.approx.f32", u), corrected);
}

V expm1(const F32& f, const V& x) {
  const V small = f.lt(f.abs(x), F32::c(0.35));
  const V series = f.fma(
      f.mul(x, x),
      f.horner(x, {2.4801587e-5, 1.9841270e-4, 1.3888889e-3, 8.3333333e-3, 4.1666667e-2, 1.6666667e-1, 0.5}),
      x);
  return f.select(small, series, f.sub(exp(f, x), F32::c(1.0)));
}

// x - n pi/2 in three steps (Cody and Waite), then a polynomial chosen by n mod 4. Beyond about 1e5 the
// reduction loses bits.
V sincos(const F32& f, const V& x, bool cosine) {
  if (f.r.options().approx_math) return f.one(cosine ? "cos.approx.f32" : "sin.approx.f32", x);
  const V n = f.one("cvt.rni.f32.f32", f.mul(x, F32::c(0.636619772367581343)));
  V t = f.fma(n, F32::c(-1.57079601287841796875), x);
  t = f.fma(n, F32::c(-3.1391647326017846e-7), t);
  t = f.fma(n, F32::c(-5.390302529957764e-15), t);
  const V t2 = f.mul(t, t);
  const V sine =
      f.fma(f.mul(t2, t), f.horner(t2, {2.7183114e-6, -1.9839334e-4, 8.3333309e-3, -0.16666667}), t);
  const V cosin = f.horner(t2, {2.4433157e-5, -1.3887316e-3, 4.1666646e-2, -0.5, 1.0});
  V quadrant = f.r.pure("cvt.rzi.s32.f32", {n}, Type::b32);
  if (cosine) quadrant = f.r.pure("add.s32", {quadrant, Operand::imm(1)}, Type::b32);
  const auto bit = [&](int b) {
    return f.r.pure("setp.ne.s32",
                    {f.r.pure("and.b32", {quadrant, Operand::imm(b)}, Type::b32), Operand::imm(0)},
                    Type::pred);
  };
  const V value = f.select(bit(1), cosin, sine);
  return f.select(bit(2), f.neg(value), value);
}

V tanh(const F32& f, const V& x) {
  if (f.r.options().approx_math) return f.one("tanh.approx.f32", x);
  const V a = f.abs(x);
  const V x2 = f.mul(x, x);
  const V series =
      f.fma(f.mul(x2, x),
            f.horner(x2, {-8.8632355e-3 + 0.0, 2.1869488e-2, -5.3968254e-2, 0.13333333, -0.33333333}), x);
  const V e = exp(f, f.mul(a, F32::c(2.0)));
  const V large = f.fma(f.rcp(f.add(e, F32::c(1.0))), F32::c(-2.0), F32::c(1.0));
  const V with_sign = f.r.pure("copysign.f32", {x, large}, Type::f32);
  return f.select(f.lt(a, F32::c(0.3)), series, with_sign);
}

// 1 - erfc for |x| >= 1 and the Maclaurin-like fit below (Cephes' coefficients).
V erf(const F32& f, const V& x) {
  const V a = f.abs(x);
  const V x2 = f.mul(x, x);
  const V small = f.mul(x, f.horner(x2, {7.853861353153693e-5, -8.010193625184903e-4, 5.188327685732524e-3,
                                         -2.685381193529856e-2, 1.128358514861418e-1, -3.761262582423300e-1,
                                         1.128379165726710e+0}));
  const V q = f.rcp(a);
  const V y = f.mul(q, q);
  const V near = f.horner(y, {2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1,
                              -5.824733027278666e-1, 6.210004621745983e-1, -4.944515323274145e-1,
                              3.404879937665872e-1, -2.741127028184656e-1, 5.638259427386472e-1});
  const V far =
      f.horner(y, {-1.047766399936249e+1, 1.297719955372516e+1, -7.495518717768503e+0, 2.921019019210786e+0,
                   -1.015265279202700e+0, 4.218463358204948e-1, -2.820767439740514e-1, 5.641895067754075e-1});
  const V p = f.select(f.lt(a, F32::c(2.0)), near, far);
  const V tail = f.mul(f.mul(exp(f, f.neg(x2)), q), p);
  const V large = f.r.pure("copysign.f32", {x, f.sub(F32::c(1.0), tail)}, Type::f32);
  return f.select(f.lt(a, F32::c(1.0)), small, large);
}

V logistic(const F32& f, const V& x) { return f.rcp(f.add(exp(f, f.neg(x)), F32::c(1.0))); }

struct Function {
  Unary op;
  V (*apply)(const F32& f, const V& x);
};
constexpr Function functions[] = {{Unary::exp, exp},
                                  {Unary::exp2, exp2},
                                  {Unary::log, log},
                                  {Unary::log2, log2},
                                  {Unary::log1p, log1p},
                                  {Unary::expm1, expm1},
                                  {Unary::sin, [](const F32& f, const V& x) { return sincos(f, x, false); }},
                                  {Unary::cos, [](const F32& f, const V& x) { return sincos(f, x, true); }},
                                  {Unary::tanh, tanh},
                                  {Unary::erf, erf},
                                  {Unary::logistic, logistic}};

// Operations of one instruction; `approx` with approx_math.
struct Instruction {
  Unary op;
  std::string_view exact, approx = exact;
};
constexpr Instruction instructions[] = {{Unary::sqrt, "sqrt.rn.f32", "sqrt.approx.f32"},
                                        {Unary::reciprocal, "rcp.rn.f32", "rcp.approx.f32"},
                                        {Unary::rsqrt, "rsqrt.approx.f32"},
                                        {Unary::round, "cvt.rni.f32.f32"},
                                        {Unary::floor, "cvt.rmi.f32.f32"},
                                        {Unary::ceil, "cvt.rpi.f32.f32"},
                                        {Unary::trunc, "cvt.rzi.f32.f32"},
                                        {Unary::neg, "neg.f32"},
                                        {Unary::abs, "abs.f32"}};

}  // namespace

Operand math_f32(Recorder& r, Unary op, const Operand& x) {
  const F32 f{r};
  for (const Function& function : functions)
    if (function.op == op) return function.apply(f, x);
  for (const Instruction& instruction : instructions)
    if (instruction.op == op)
      return f.one(r.options().approx_math ? instruction.approx : instruction.exact, x);
  fail(Code::unsupported_dtype, std::string(name(op)) + " is not defined for floating-point numbers");
}

}  // namespace palladion::frontend
