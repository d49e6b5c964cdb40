// A sum reads shared memory beyond what was stored.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  __shared__ float tile[256];
  const int i = threadIdx.x;
  tile[i] = in[i];
#ifdef RIGHT
  tile[i + 128] = 0;
#endif
  __syncthreads();
  out[i] = tile[i] + tile[i + 128];  // MISTAKE
}
