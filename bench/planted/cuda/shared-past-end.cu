// A store past the end of shared memory.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  extern __shared__ float tile[];
  const int i = threadIdx.x;
#ifdef RIGHT
  tile[i] = in[i];
#else
  tile[i + 65536] = in[i];  // MISTAKE
#endif
  __syncthreads();
  out[i] = tile[127 - i];
}
