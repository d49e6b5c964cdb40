// What clang's NVPTX back end prints: structs by value, vectors, switches, indirect calls, local arrays.
//   clang-19 --target=nvptx64-nvidia-cuda -O1 -S llvm_nvptx.c -Xclang -target-cpu -Xclang sm_90a -Xclang -target-feature -Xclang +ptx83
typedef float float4 __attribute__((ext_vector_type(4)));
#define GLOBAL __attribute__((address_space(1)))

struct Record {
  int number;
  char name[3];
  double value;
  const void *table;
};

GLOBAL int counters[4] = {1, 2, 3, 4};
static const int table[5] = {5, 4, 3, 2, 1};
struct Record first = {1, "ab", 2.5, table};
int (*chosen)(int);
int elsewhere(int);

__attribute__((noinline)) struct Record renumbered(int by, struct Record r) {
  r.number += by;
  r.value *= 2;
  return r;
}

__attribute__((noinline)) float4 multiply_add(float4 a, float4 b) { return a * b + a; }

__attribute__((noinline)) static int choose(int which, int x) {
  switch (which) {
    case 0: return x * 3;
    case 1: return x + 7;
    case 2: return x ^ 5;
    case 3: return x / 3;
    case 4: return x % 5;
    case 5: return elsewhere(x);
    case 6: return -x;
    default: return 0;
  }
}

__attribute__((nvptx_kernel)) void kernel(GLOBAL float *out, GLOBAL const float *in, int n, _Float16 h, double d, long long wide) {
  const int t = __nvvm_read_ptx_sreg_tid_x();
  const struct Record r = renumbered(t, first);
  const float4 v = multiply_add((float4)in[t], (float4)in[t + 1]);
  int history[10];
  for (int i = 0; i < 10; ++i) history[i] = table[(i + t) % 5] + (chosen ? chosen(i) : 0);
  float s = v.x + v.w + r.number + r.name[t & 1] + history[n % 10] + choose(n, t) + (float)(h * h) + (float)d + (float)(wide / 3);
  s += __builtin_popcount(t) + __builtin_clz(t) + (float)__builtin_bswap32(n) + __builtin_fmaf(v.x, v.y, v.z);
  __nvvm_bar_sync(0);
  __sync_fetch_and_add((int *)&counters[t & 3], 3);
  if (n == 77) __builtin_trap();
  out[t] = s;
}
