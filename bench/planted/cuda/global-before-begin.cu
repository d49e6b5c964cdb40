// A stencil reads the element before the first.
// grid 8, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef RIGHT
  const float left = i > 0 ? in[i - 1] : 0;
#else
  const float left = in[i - 1];  // MISTAKE
#endif
  out[i] = left + in[i];
}
