// A shuffle with the full mask in a branch of half of the warp.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  const int i = threadIdx.x;
  float v = in[i];
#ifdef RIGHT
  v += __shfl_down_sync(0xffffffff, v, 16);
#else
  if (i % 32 < 16) v += __shfl_down_sync(0xffffffff, v, 16);  // MISTAKE
#endif
  out[i] = v;
}
