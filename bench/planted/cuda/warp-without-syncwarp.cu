// Lanes of one warp exchange by shared memory without __syncwarp.
// grid 1, block 32
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  __shared__ float tile[32];
  const int i = threadIdx.x;
  tile[i] = in[i];  // MISTAKE
#ifdef RIGHT
  __syncwarp();
#endif
  out[i] = tile[31 - i];  // MISTAKE
}
