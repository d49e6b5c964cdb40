// An assertion of the kernel fails.
// grid 1, block 128
#ifndef __CUDACC_RTC__
#include <assert.h>
#endif
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  const int i = threadIdx.x;
#ifdef RIGHT
  assert(i < 128);
#else
  assert(i < 100);  // MISTAKE
#endif
  out[i] = in[i];
}
