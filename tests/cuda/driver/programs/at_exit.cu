// A program whose global destructor launches a kernel, behind main.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add(int* p) { *p += 1; }

struct AtExit {
  int* p = nullptr;
  ~AtExit() {
    int value = 0;
    add<<<1, 1>>>(p);
    if (cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost) != cudaSuccess || value != 2) std::_Exit(5);
  }
} at_exit;

int main() {
  if (cudaMalloc(&at_exit.p, 4) != cudaSuccess || cudaMemset(at_exit.p, 0, 4) != cudaSuccess) return 3;
  add<<<1, 1>>>(at_exit.p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 4;
}
