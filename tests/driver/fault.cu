// A store behind the end of an array: the program is told, and ends with 0; exec with 1.
#include <cstdio>

__global__ void store(int* p) { p[threadIdx.x + 1] = 1; }

int main() {
  int* p = nullptr;
  if (cudaMalloc(&p, 32 * sizeof *p) != cudaSuccess) return 3;
  store<<<1, 32>>>(p);
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 4;
}
