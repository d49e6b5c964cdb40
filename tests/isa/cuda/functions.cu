// Calls, recursion, function pointers, switches, printf, assert, local arrays.
#include <cassert>
#include <cstdio>

__device__ __noinline__ float polynomial(float x, int degree) {
  float s = 0.0f;
  for (int i = 0; i <= degree; ++i) s = s * x + (float)i;
  return s;
}
struct Pair {
  int key;
  double value;
  char name[5];
};
__device__ __noinline__ Pair make_pair_of(int key, Pair other) {
  other.key += key;
  other.value *= 0.5;
  other.name[key & 3]++;
  return other;
}
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int plus_one(int x) { return x + 1; }
__device__ int doubled(int x) { return 2 * x; }
__device__ int squared(int x) { return x * x; }
__device__ int (*operations[3])(int) = {plus_one, doubled, squared};

extern "C" __global__ void call_functions(int* out, int n) {
  const int t = threadIdx.x;
  Pair p{t, 1.0 / (t + 1), {'a', 'b', 'c', 'd', 0}};
  p = make_pair_of(n, p);
  out[t] = fibonacci(t & 7) + operations[t % 3](t) + (int)polynomial(0.5f, n) + p.key + (int)(100 * p.value) + p.name[1];
}

extern "C" __global__ void choose(const int* in, int* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[t];
  switch (v & 15) {
    case 0: v += 11; break;
    case 1: v *= 3; break;
    case 2: v = -v; break;
    case 3: v ^= 0x55; break;
    case 4: v = __popc(v); break;
    case 5: v <<= 3; break;
    case 6: v = out[t + 1]; break;
    case 7: v |= 0x1000; break;
    case 8: v = __clz(v); break;
    case 9: v %= 7; break;
    case 10: v /= 3; break;
    case 11: out[t + 2] = v; break;
    default: v = 99;
  }
  out[t] = v;
}

extern "C" __global__ void print(int n, float x) {
  assert(n > 0);
  if (threadIdx.x == 0) printf("n = %d, x = %f, %s\n", n, x, "done");
  if (n > 1000) __trap();
}

extern "C" __global__ void local_arrays(const int* in, int* out, int n) {
  int history[40];
  short small[8];
  for (int i = 0; i < 40; ++i) history[i] = in[i] * threadIdx.x;
  for (int i = 0; i < 8; ++i) small[i] = (short)in[i + n];
  int at = n;
  for (int i = 0; i < 20; ++i) at = (history[at % 40] + small[at & 7]) & 0xff;
  out[threadIdx.x] = at;
}
