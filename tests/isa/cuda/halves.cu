// f16, bf16 and fp8 arithmetic and conversions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void halves(const __half* in, __half* out, __half2* pairs) {
  const int t = threadIdx.x;
  const __half a = in[t], b = in[t + 32];
  const __half2 p = __halves2half2(a, b), q = pairs[t];
  __half s = __hadd(a, __hmul(b, __hfma(a, b, __float2half(0.5f))));
  s = __hsub(s, __hmax(a, __hmin(b, __hneg(a))));
  s = __hgt(a, b) ? __hadd(s, hexp(a)) : __hadd(s, hrsqrt(__habs(b)));
  s = __hadd(s, __hadd(htanh_approx(a), __int2half_rn(t)));
  out[t] = __hlt(s, a) ? s : __ushort_as_half((unsigned short)__half2int_rz(b));
  const __half2 r = __hfma2(p, q, __hmax2(p, __hmul2(q, q)));
  pairs[t] = __hbgt2(p, q) ? r : __hadd2(h2sqrt(r), __h2div(p, q));
}

extern "C" __global__ void brains(const __nv_bfloat16* in, __nv_bfloat16* out, float* wide) {
  const int t = threadIdx.x;
  const __nv_bfloat16 a = in[t], b = in[t + 32];
  out[t] = __hfma(a, b, __float2bfloat16(wide[t]));
  const __nv_bfloat162 p = __floats2bfloat162_rn(wide[t + 1], wide[t + 2]);
  const __nv_bfloat162 q = __hmul2(p, __hadd2(p, p));
  wide[t] = __bfloat162float(q.x) + __bfloat162float(__hmax(a, b)) + (__heq(a, b) ? 1.0f : __bfloat162float(hlog2(b)));
}

extern "C" __global__ void eights(const float* in, __nv_fp8x4_e4m3* out, __nv_fp8_e5m2* narrow, float2* back) {
  const int t = threadIdx.x;
  const float4 v = make_float4(in[4 * t], in[4 * t + 1], in[4 * t + 2], in[4 * t + 3]);
  out[t] = __nv_fp8x4_e4m3(v);
  narrow[t] = __nv_fp8_e5m2(v.x);
  back[t] = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)(((const unsigned*)out)[t] & 0xffff), __NV_E4M3)));
}
