// Sum of an array: grid-stride loop, tree in shared memory, shuffles in the last warp, one atomic per CTA.
extern "C" __global__ void __launch_bounds__(256) sum(const float* in, float* out, int n) {
  __shared__ float partial[256];
  float s = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i];
  partial[threadIdx.x] = s;
  __syncthreads();
  for (int half = blockDim.x / 2; half >= 32; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x >= 32) return;
  s = partial[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) s += __shfl_down_sync(0xffffffffu, s, offset);
  if (threadIdx.x == 0) atomicAdd(out, s);
}

// The same with shared memory whose size the launch gives, and integers: exact.
extern "C" __global__ void sum_integers(const int* in, long long* out, int n) {
  extern __shared__ long long buffer[];
  long long s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += in[i];
  buffer[threadIdx.x] = s;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) buffer[threadIdx.x] += buffer[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = buffer[0];
}
