// The next round overwrites a tile that other warps still read.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  __shared__ float tile[128];
  const int i = threadIdx.x;
  float sum = 0;
  for (int round = 0; round < n / 128; ++round) {
    tile[i] = in[round * 128 + i];  // MISTAKE
    __syncthreads();
    sum += tile[(i + 64) % 128];  // MISTAKE
#ifdef RIGHT
    __syncthreads();
#endif
  }
  out[i] = sum;
}
