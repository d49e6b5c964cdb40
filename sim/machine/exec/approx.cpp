#include "sim/machine/exec/approx.h"

#include <algorithm>
#include <array>

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

}  // namespace

LanesFn approx_lanes(const isa::Approx& a) {
  const auto row = std::ranges::find_if(
      rows, [&](const Row& r) { return r.op == a.op && r.type == a.type && r.ftz == a.ftz; });
  return row == rows.end() ? nullptr : row->fn;
}

}  // namespace palladion::sim
