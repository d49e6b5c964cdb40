// A thread reads what another warp stored to shared memory, without a barrier.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  __shared__ float tile[128];
  const int i = threadIdx.x;
  tile[i] = in[i];  // MISTAKE
#ifdef RIGHT
  __syncthreads();
#endif
  out[i] = tile[127 - i];  // MISTAKE
}
