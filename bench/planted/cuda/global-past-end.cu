// The tail of the grid stores past the end of an array.
// grid 9, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef RIGHT
  if (i >= n) return;
#endif
  out[i] = 2 * in[i];  // MISTAKE
}
