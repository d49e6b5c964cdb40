// Of a program of two objects (-rdc=true): a kernel that calls a function and counts in a variable of linked_b.cu.
#include <cstdio>

extern __device__ int counter;
__device__ int twice(int);
static __device__ int own() { return 1; }
__global__ void k(int* p) {
  p[threadIdx.x] = twice(p[threadIdx.x]) + own();
  atomicAdd(&counter, 1);
}

int counter_of_b();

int main() {
  int* p = nullptr;
  if (cudaMallocManaged(&p, 32 * sizeof *p) != cudaSuccess) return 3;
  for (int i = 0; i < 32; ++i) p[i] = i;
  k<<<1, 32>>>(p);
  if (cudaDeviceSynchronize() != cudaSuccess) return 4;
  for (int i = 0; i < 32; ++i)
    if (p[i] != 2 * i + 100 + 1) return std::printf("%d: %d\n", i, p[i]), 5;
  return counter_of_b() == 32 ? 0 : 6;
}
