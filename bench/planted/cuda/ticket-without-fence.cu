// The last CTA sums what the others stored, and nothing orders their stores before the ticket.
// grid 8, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  __shared__ bool is_last;
  const int i = threadIdx.x;
  out[blockIdx.x * blockDim.x + i] = in[blockIdx.x * blockDim.x + i];  // MISTAKE
#ifdef RIGHT
  __threadfence();
#endif
  __syncthreads();
  if (i == 0) is_last = atomicAdd(flags, 1) == (int)gridDim.x - 1;
  __syncthreads();
#ifdef RIGHT
  __threadfence();
#endif
  if (!is_last || i != 0) return;
  float sum = 0;
  for (int b = 0; b < (int)gridDim.x; ++b) sum += out[b * blockDim.x + 5];  // MISTAKE
  out[0] = sum;
}
