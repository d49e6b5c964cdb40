// Histogram of bytes: counters in shared memory, then one atomic per bin.
__constant__ unsigned char bin_of[256] = {0, 1, 1, 2, 2, 2, 2, 3};
__device__ unsigned long long calls = 1;
__device__ int tags[2][3] = {{1, 2, 3}, {4}};

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned local_bins[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) local_bins[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    atomicAdd(&local_bins[bin_of[in[i]] + (in[i] & 0xf0)], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    if (local_bins[b] != 0) atomicAdd(&bins[b], local_bins[b]);
  if (threadIdx.x == 0) atomicAdd(&calls, 1ull);
}

extern "C" __global__ void atomics(int* i, unsigned* u, float* f, double* d, unsigned long long* ull) {
  atomicMin(i, -5), atomicMax(i + 1, 7), atomicExch(i + 2, tags[threadIdx.x & 1][threadIdx.x % 3]), atomicAnd(u, 0xff00u);
  atomicOr(u + 1, 3u), atomicXor(u + 2, 5u), atomicInc(u + 3, 10u), atomicDec(u + 4, 10u);
  u[5] = atomicCAS(u + 6, 1u, 2u);
  f[1] = atomicAdd(f, 1.5f);
  atomicAdd(d, 2.5);
  ull[1] = atomicCAS(ull, 3ull, 4ull);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
}
