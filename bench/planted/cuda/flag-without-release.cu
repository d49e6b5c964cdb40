// Data is published by a relaxed flag.
// grid 2, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  const int i = threadIdx.x;
  volatile int* const flag = flags;
  if (blockIdx.x == 0) {
    out[i] = in[i];  // MISTAKE
#ifdef RIGHT
    __threadfence();
#endif
    __syncthreads();
    if (i == 0) *flag = 1;
  } else {
    if (i == 0)
      while (*flag == 0) {
      }
#ifdef RIGHT
    __threadfence();
#endif
    __syncthreads();
    out[128 + i] = out[127 - i];  // MISTAKE
  }
}
