#include "sim/numerics/special.h"

#include <cstring>

namespace palladion::sim::numerics::warp_wide {
namespace {

constexpr int width = 32;

// Results go through a local array: it cannot alias the operands, so the loop vectorises without a check and
// in place.
template <auto fn, class T>
void apply(const T* in, T* out) {
  T result[width];
  for (int i = 0; i < width; ++i) result[i] = fn(in[i]);
  std::memcpy(out, result, sizeof result);
}

template <auto fn, class T>
void apply(const T* a, const T* b, T* out) {
  T result[width];
  for (int i = 0; i < width; ++i) result[i] = fn(a[i], b[i]);
  std::memcpy(out, result, sizeof result);
}

}  // namespace

void rcp_approx_f32(const U32* in, U32* out) { apply<numerics::rcp_approx_f32>(in, out); }
void rcp_approx_ftz_f32(const U32* in, U32* out) { apply<numerics::rcp_approx_ftz_f32>(in, out); }
void rsqrt_approx_f32(const U32* in, U32* out) { apply<numerics::rsqrt_approx_f32>(in, out); }
void rsqrt_approx_ftz_f32(const U32* in, U32* out) { apply<numerics::rsqrt_approx_ftz_f32>(in, out); }
void sqrt_approx_f32(const U32* in, U32* out) { apply<numerics::sqrt_approx_f32>(in, out); }
void sqrt_approx_ftz_f32(const U32* in, U32* out) { apply<numerics::sqrt_approx_ftz_f32>(in, out); }
void ex2_approx_f32(const U32* in, U32* out) { apply<numerics::ex2_approx_f32>(in, out); }
void ex2_approx_ftz_f32(const U32* in, U32* out) { apply<numerics::ex2_approx_ftz_f32>(in, out); }
void lg2_approx_f32(const U32* in, U32* out) { apply<numerics::lg2_approx_f32>(in, out); }
void lg2_approx_ftz_f32(const U32* in, U32* out) { apply<numerics::lg2_approx_ftz_f32>(in, out); }
void sin_approx_f32(const U32* in, U32* out) { apply<numerics::sin_approx_f32>(in, out); }
void cos_approx_f32(const U32* in, U32* out) { apply<numerics::cos_approx_f32>(in, out); }
void tanh_approx_f32(const U32* in, U32* out) { apply<numerics::tanh_approx_f32>(in, out); }

void div_approx_f32(const U32* a, const U32* b, U32* out) { apply<numerics::div_approx_f32>(a, b, out); }
void div_approx_ftz_f32(const U32* a, const U32* b, U32* out) {
  apply<numerics::div_approx_ftz_f32>(a, b, out);
}
void div_full_f32(const U32* a, const U32* b, U32* out) { apply<numerics::div_full_f32>(a, b, out); }
void div_full_ftz_f32(const U32* a, const U32* b, U32* out) { apply<numerics::div_full_ftz_f32>(a, b, out); }

void rcp_approx_ftz_f64(const U64* in, U64* out) { apply<numerics::rcp_approx_ftz_f64>(in, out); }
void rsqrt_approx_ftz_f64(const U64* in, U64* out) { apply<numerics::rsqrt_approx_ftz_f64>(in, out); }
void rsqrt_approx_f64(const U64* in, U64* out) { apply<numerics::rsqrt_approx_f64>(in, out); }

void ex2_approx_f16(const U16* in, U16* out) { apply<numerics::ex2_approx_f16>(in, out); }
void tanh_approx_f16(const U16* in, U16* out) { apply<numerics::tanh_approx_f16>(in, out); }
void ex2_approx_ftz_bf16(const U16* in, U16* out) { apply<numerics::ex2_approx_ftz_bf16>(in, out); }
void tanh_approx_bf16(const U16* in, U16* out) { apply<numerics::tanh_approx_bf16>(in, out); }
void ex2_approx_f16x2(const U32* in, U32* out) { apply<numerics::ex2_approx_f16x2>(in, out); }
void tanh_approx_f16x2(const U32* in, U32* out) { apply<numerics::tanh_approx_f16x2>(in, out); }
void ex2_approx_ftz_bf16x2(const U32* in, U32* out) { apply<numerics::ex2_approx_ftz_bf16x2>(in, out); }
void tanh_approx_bf16x2(const U32* in, U32* out) { apply<numerics::tanh_approx_bf16x2>(in, out); }

}  // namespace palladion::sim::numerics::warp_wide
