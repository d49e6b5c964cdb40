// The host's side of each kernel in `cuda`: KERNEL is its file, GRID and BLOCK its launch.
#include KERNEL

#include <cstdio>
#include <cstdlib>
#include <vector>

int main() {
  constexpr int n = 1024;
  std::vector<float> host(n);
  for (float& x : host) x = float(std::rand()) / float(RAND_MAX);
  float *in, *out;
  int* flags;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));  // what a kernel reads of it, it has to write
  cudaMalloc(&flags, 64 * sizeof(int));
  cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(flags, 0, 64 * sizeof(int));
  kernel<<<GRID, BLOCK, 1024>>>(in, out, flags, n);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
