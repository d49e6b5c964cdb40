// Kernels that launch kernels, copy and allocate memory on the device (CUDA dynamic parallelism).
#include <cstdio>

constexpr int n = 64;

// Adds 1 to each element: halves of the range are launched down to one CTA of 8 elements.
__global__ void add_one(int* data, int count) {
  if (count <= 8) {
    if (static_cast<int>(threadIdx.x) < count) data[threadIdx.x] += 1;
    return;
  }
  if (threadIdx.x != 0) return;
  add_one<<<1, 32>>>(data, count / 2);
  cudaStream_t stream;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return;
  add_one<<<1, 32, 0, stream>>>(data + count / 2, count - count / 2);
  cudaStreamDestroy(stream);
}

// Launched first, in the stream of tail launches: it reads what the others have left.
__global__ void sum(const int* data, int count, int* out) {
  int s = 0;
  for (int i = 0; i < count; ++i) s += data[i];
  *out = s;
}

__global__ void all(int* data, int* copy, int* out) {
  sum<<<1, 1, 0, cudaStreamTailLaunch>>>(data, n, out);
  add_one<<<1, 32>>>(data, n);
  add_one<<<1, 32>>>(data, n);  // in the same stream: after the first
  cudaMemcpyAsync(copy, data, n * sizeof(int), cudaMemcpyDeviceToDevice);
  add_one<<<1, 32>>>(data, n);
}

__global__ void use(int** kept) { **kept = 7; }
__global__ void allocate(int** kept) {
  int* mine = nullptr;
  if (cudaMalloc(&mine, sizeof *mine) != cudaSuccess) return;
  *kept = mine;
  use<<<1, 1>>>(kept);
}
__global__ void release(int** kept, int* out) {
  *out = **kept;
  if (cudaFree(*kept) != cudaSuccess) *out = -1;
}

int main() {
  int *data = nullptr, *copy = nullptr, *out = nullptr, **kept = nullptr;
  if (cudaMallocManaged(&data, n * sizeof *data) != cudaSuccess) return 3;
  if (cudaMallocManaged(&copy, n * sizeof *copy) != cudaSuccess) return 3;
  if (cudaMallocManaged(&out, 2 * sizeof *out) != cudaSuccess) return 3;
  if (cudaMallocManaged(&kept, sizeof *kept) != cudaSuccess) return 3;
  for (int i = 0; i < n; ++i) data[i] = i;
  all<<<1, 1>>>(data, copy, out);
  allocate<<<1, 1>>>(kept);
  release<<<1, 1>>>(kept, out + 1);
  if (cudaDeviceSynchronize() != cudaSuccess) return 4;
  for (int i = 0; i < n; ++i)
    if (data[i] != i + 3 || copy[i] != i + 2) return std::printf("%d: %d, %d\n", i, data[i], copy[i]), 5;
  if (out[0] != n * (n - 1) / 2 + 3 * n) return std::printf("sum %d\n", out[0]), 6;
  return out[1] == 7 ? 0 : 7;
}
