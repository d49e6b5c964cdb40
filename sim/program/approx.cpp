#include "sim/program/approx.h"

#include <algorithm>
#include <array>

#include "isa/num/arith.h"
#include "isa/ops/lanes.h"
#include "sim/numerics/special.h"

namespace palladion::sim {
namespace {

namespace warp_wide = numerics::warp_wide;
using isa::ApproxOp;
using isa::LaneArgs;
using isa::LanesFn;
using isa::Type;

template <auto function, class T>
void unary(const LaneArgs& a) {
  alignas(32) T t[isa::lanes::warp_size];
  function(isa::lanes::source<T>(a, 0), t);
  isa::lanes::commit(a.d[0], t, a.mask);
}

template <auto function>
void division(const LaneArgs& a) {
  alignas(32) uint32_t t[isa::lanes::warp_size];
  function(isa::lanes::source<uint32_t>(a, 0), isa::lanes::source<uint32_t>(a, 1), t);
  isa::lanes::commit(a.d[0], t, a.mask);
}

struct Row {
  ApproxOp op;
  Type type;
  bool ftz;
  LanesFn fn;
};

constexpr bool plain = false, ftz = true;

constexpr auto rows = std::to_array<Row>({
    {ApproxOp::rcp, Type::f32, plain, unary<warp_wide::rcp_approx_f32, uint32_t>},
    {ApproxOp::rcp, Type::f32, ftz, unary<warp_wide::rcp_approx_ftz_f32, uint32_t>},
    {ApproxOp::rcp, Type::f64, ftz, unary<warp_wide::rcp_approx_ftz_f64, uint64_t>},
    {ApproxOp::rsqrt, Type::f32, plain, unary<warp_wide::rsqrt_approx_f32, uint32_t>},
    {ApproxOp::rsqrt, Type::f32, ftz, unary<warp_wide::rsqrt_approx_ftz_f32, uint32_t>},
    {ApproxOp::rsqrt, Type::f64, plain, unary<warp_wide::rsqrt_approx_f64, uint64_t>},
    {ApproxOp::rsqrt, Type::f64, ftz, unary<warp_wide::rsqrt_approx_ftz_f64, uint64_t>},
    {ApproxOp::sqrt, Type::f32, plain, unary<warp_wide::sqrt_approx_f32, uint32_t>},
    {ApproxOp::sqrt, Type::f32, ftz, unary<warp_wide::sqrt_approx_ftz_f32, uint32_t>},
    {ApproxOp::ex2, Type::f32, plain, unary<warp_wide::ex2_approx_f32, uint32_t>},
    {ApproxOp::ex2, Type::f32, ftz, unary<warp_wide::ex2_approx_ftz_f32, uint32_t>},
    {ApproxOp::ex2, Type::f16, plain, unary<warp_wide::ex2_approx_f16, uint16_t>},
    {ApproxOp::ex2, Type::f16x2, plain, unary<warp_wide::ex2_approx_f16x2, uint32_t>},
    {ApproxOp::ex2, Type::bf16, ftz, unary<warp_wide::ex2_approx_ftz_bf16, uint16_t>},
    {ApproxOp::ex2, Type::bf16x2, ftz, unary<warp_wide::ex2_approx_ftz_bf16x2, uint32_t>},
    {ApproxOp::lg2, Type::f32, plain, unary<warp_wide::lg2_approx_f32, uint32_t>},
    {ApproxOp::lg2, Type::f32, ftz, unary<warp_wide::lg2_approx_ftz_f32, uint32_t>},
    // Sine and cosine flush even without .ftz.
    {ApproxOp::sin, Type::f32, plain, unary<warp_wide::sin_approx_f32, uint32_t>},
    {ApproxOp::sin, Type::f32, ftz, unary<warp_wide::sin_approx_f32, uint32_t>},
    {ApproxOp::cos, Type::f32, plain, unary<warp_wide::cos_approx_f32, uint32_t>},
    {ApproxOp::cos, Type::f32, ftz, unary<warp_wide::cos_approx_f32, uint32_t>},
    {ApproxOp::tanh, Type::f32, plain, unary<warp_wide::tanh_approx_f32, uint32_t>},
    {ApproxOp::tanh, Type::f16, plain, unary<warp_wide::tanh_approx_f16, uint16_t>},
    {ApproxOp::tanh, Type::f16x2, plain, unary<warp_wide::tanh_approx_f16x2, uint32_t>},
    {ApproxOp::tanh, Type::bf16, plain, unary<warp_wide::tanh_approx_bf16, uint16_t>},
    {ApproxOp::tanh, Type::bf16x2, plain, unary<warp_wide::tanh_approx_bf16x2, uint32_t>},
    {ApproxOp::div, Type::f32, plain, division<warp_wide::div_approx_f32>},
    {ApproxOp::div, Type::f32, ftz, division<warp_wide::div_approx_ftz_f32>},
    {ApproxOp::div_full, Type::f32, plain, division<warp_wide::div_full_f32>},
    {ApproxOp::div_full, Type::f32, ftz, division<warp_wide::div_full_ftz_f32>},
});

// What the functions multiply at their end (sim/numerics/special.h states the same without the sum).
struct Factors {
  uint32_t x, y;
};
struct Reciprocal {
  static constexpr int operands = 1;
  static Factors factors(uint32_t b, uint32_t) {
    using namespace numerics::sfu;
    uint32_t scale = select(is_subnormal_or_zero(b), two_24, one);
    scale = select(is_huge(b), quarter, scale);
    return {rcp(multiply(b, scale)), scale};
  }
};
struct DivApprox {
  static constexpr int operands = 2;
  static Factors factors(uint32_t a, uint32_t b) {
    using namespace numerics::sfu;
    const uint32_t scale = select(is_subnormal_or_zero(b), two_24, one);
    return {rcp(multiply(b, scale)), multiply(a, scale)};
  }
};
struct DivApproxFtz {
  static constexpr int operands = 2;
  static Factors factors(uint32_t a, uint32_t b) { return {numerics::sfu::rcp(b), a}; }
};
struct DivFull {
  static constexpr int operands = 2;
  static Factors factors(uint32_t a, uint32_t b) {
    const Factors of_b = Reciprocal::factors(b, 0);
    return {of_b.x, numerics::sfu::multiply(a, of_b.y)};
  }
};
struct DivFullFtz {
  static constexpr int operands = 2;
  static Factors factors(uint32_t a, uint32_t b) {
    using namespace numerics::sfu;
    const bool huge = is_huge(b);
    return {rcp(select(huge, multiply_ftz(b, quarter), b)), select(huge, multiply_ftz(a, quarter), a)};
  }
};

template <class Function, isa::num::ArithMods mods, uint32_t product_sign, uint32_t addend_sign>
void fused(const LaneArgs& args) {
  alignas(32) uint32_t t[isa::lanes::warp_size];
  for (int i = 0; i < isa::lanes::warp_size; ++i) {
    const uint32_t a = isa::lanes::source<uint32_t>(args, 0)[i];
    const uint32_t b = Function::operands == 2 ? isa::lanes::source<uint32_t>(args, 1)[i] : 0;
    const uint32_t c = isa::lanes::source<uint32_t>(args, Function::operands)[i];
    const Factors f = Function::factors(a, b);
    t[i] = isa::num::fma<isa::num::F32, mods>(f.x ^ product_sign, f.y, c ^ addend_sign);
  }
  isa::lanes::commit(args.d[0], t, args.mask);
}
template <class Function, isa::num::ArithMods mods>
LanesFn fused_with_signs(const isa::Contracted& c) {
  constexpr uint32_t minus = isa::num::F32::sign_mask;
  if (c.negated_product)
    return c.negated_addend ? fused<Function, mods, minus, minus> : fused<Function, mods, minus, 0>;
  return c.negated_addend ? fused<Function, mods, 0, minus> : fused<Function, mods, 0, 0>;
}
template <class Function, bool flushes>
LanesFn fused_for(const isa::Contracted& c) {
  constexpr auto rn = isa::num::Rounding::rn;
  return c.sat ? fused_with_signs<Function, isa::num::ArithMods{rn, flushes, true}>(c)
               : fused_with_signs<Function, isa::num::ArithMods{rn, flushes}>(c);
}

}  // namespace

LanesFn approx_contracted(const isa::Approx& a, const isa::Contracted& c) {
  if (a.type != Type::f32 || c.type != Type::f32 || a.ftz != c.ftz) return nullptr;
  switch (a.op) {
    case ApproxOp::rcp:
      return a.ftz ? nullptr : fused_for<Reciprocal, plain>(c);
    case ApproxOp::div:
      return a.ftz ? fused_for<DivApproxFtz, ftz>(c) : fused_for<DivApprox, plain>(c);
    case ApproxOp::div_full:
      return a.ftz ? fused_for<DivFullFtz, ftz>(c) : fused_for<DivFull, plain>(c);
    default:
      return nullptr;
  }
}

LanesFn approx_lanes(const isa::Approx& a) {
  const auto row = std::ranges::find_if(
      rows, [&](const Row& r) { return r.op == a.op && r.type == a.type && r.ftz == a.ftz; });
  return row == rows.end() ? nullptr : row->fn;
}

}  // namespace palladion::sim
