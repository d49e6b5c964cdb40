// The kernel reads an array that nothing wrote.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  const int i = threadIdx.x;
#ifdef RIGHT
  out[i] = 0;
#endif
  out[i] = out[i] + in[i];  // MISTAKE
}
