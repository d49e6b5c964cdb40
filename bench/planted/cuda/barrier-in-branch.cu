// Half of a warp arrives at a barrier of the whole CTA.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  __shared__ float tile[128];
  const int i = threadIdx.x;
  tile[i] = in[i];
#ifdef RIGHT
  __syncthreads();
#else
  if (i % 32 < 16) __syncthreads();  // MISTAKE
  else __syncthreads();  // MISTAKE
#endif
  out[i] = tile[127 - i];
}
