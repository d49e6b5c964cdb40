// A program of the runtime library.
__global__ void store(int* p) { p[threadIdx.x] = 1; }

int main() {
  int* p = nullptr;
  if (cudaMalloc(&p, 32 * sizeof *p) != cudaSuccess) return 3;
  store<<<1, 32>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 4;
}
