// Every CTA adds to one counter by a load and a store.
// grid 8, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  const int i = threadIdx.x;
  if (i == 0) {
#ifdef RIGHT
    atomicAdd(flags, 1);
#else
    flags[0] = flags[0] + 1;  // MISTAKE
#endif
  }
  out[blockIdx.x * blockDim.x + i] = in[i];
}
