// Double precision, 64-bit and 128-bit integers, bit tricks, divisions, special functions.
extern "C" __global__ void doubles(const double* in, double* out) {
  const double x = in[threadIdx.x], y = in[threadIdx.x + 32];
  double s = sin(x) + exp(y) + sqrt(x * x + y * y) + x / y + fma(x, y, 1.0) + pow(x, y);
  s += floor(x) + rint(y) + fabs(x) + fmin(x, y) + fmax(x, y) + copysign(x, y) + (double)(float)x + __ddiv_rz(x, y);
  s += __dadd_ru(x, y) + __dmul_rd(x, y) + __double2int_rz(x) + __double2ll_rn(y) + log(x) + cbrt(y) + rsqrt(x);
  out[threadIdx.x] = isnan(s) || isinf(y) ? 0.0 : s;
}

extern "C" __global__ void floats(const float* in, float* out) {
  const float x = in[threadIdx.x], y = in[threadIdx.x + 32];
  float s = sinf(x) + cosf(y) + expf(x) + logf(y) + sqrtf(x) + x / y + tanhf(x) + powf(x, y) + rsqrtf(y);
  s += __sinf(x) + __cosf(y) + __logf(x) + __fdividef(x, y) + __frcp_rn(x) + __fsqrt_rz(y) + exp2f(x) + log2f(y);
  s += __fadd_rz(x, y) + __fmul_ru(x, y) + __fmaf_rd(x, y, 1.0f) + truncf(x) + ceilf(y) + roundf(x) + fmodf(x, y);
  s += __int_as_float(__float_as_int(x) ^ 1) + (float)__float2uint_rn(y) + __saturatef(x) + erff(x);
  out[threadIdx.x] = s;
}

extern "C" __global__ void integers(const long long* in, long long* out, unsigned* u) {
  const long long a = in[threadIdx.x], b = in[threadIdx.x + 32];
  const unsigned long long ua = a, ub = b;
  const unsigned x = (unsigned)a, y = (unsigned)b;
  long long s = a * b + a / b + a % b + (a << (b & 63)) + (a >> 3) + (long long)(ua / ub) + (long long)(ua >> 5);
  s += __mul64hi(a, b) + (long long)__umul64hi(ua, ub) + __popcll(ua) + __clzll(a) + __ffsll(b) + (long long)__brevll(ua);
  const unsigned __int128 wide = (unsigned __int128)ua * ub + ua;
  s += (long long)(wide >> 64) + (long long)wide;
  unsigned r = __mulhi((int)x, (int)y) + __umulhi(x, y) + __brev(x) + __clz((int)x) + __ffs((int)y) + __popc(x);
  r += __funnelshift_l(x, y, 7) + __funnelshift_r(x, y, x & 31) + __byte_perm(x, y, 0x5140) + __dp4a((int)x, (int)y, 9);
  r += __dp2a_lo((int)x, (int)y, 3) + __sad((int)x, (int)y, 1u) + __usad(x, y, 2u) + __mul24((int)x, (int)y) + __umul24(x, y);
  r += __vadd2(x, y) + __vmaxs2(x, y) + (x & y | ~x & 0xf0f0) + min(x, y) + max((int)x, (int)y) + abs((int)x) + (x > y ? 1u : 2u);
  r += (unsigned)(unsigned char)x * 3u + (unsigned)(short)y + ((x >> 7) & 0x1ff) + x / 10u + y % 1000u + __rhadd((int)x, (int)y);
  out[threadIdx.x] = s;
  u[threadIdx.x] = r;
}
