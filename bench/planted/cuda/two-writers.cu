// Two threads store different values to one element.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  const int i = threadIdx.x;
#ifdef RIGHT
  out[i] = in[i];
#else
  out[i / 2] = in[i];  // MISTAKE
#endif
}
