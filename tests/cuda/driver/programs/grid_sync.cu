// A cooperative grid whose CTAs wait for each other twice in each step (cooperative_groups).
#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void rotate(int* p, int steps) {
  auto grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    const int next = p[(grid.thread_rank() + 1) % grid.size()];
    grid.sync();
    p[grid.thread_rank()] = next + 1;
    grid.sync();
  }
}

int main() {
  constexpr int n = 2048, steps = 3;
  int *p = nullptr, count = steps;
  if (cudaMallocManaged(&p, n * sizeof *p) != cudaSuccess) return 3;
  for (int i = 0; i < n; ++i) p[i] = i;
  void* args[] = {&p, &count};
  if (cudaLaunchCooperativeKernel(rotate, dim3(n / 64), dim3(64), args, 0, nullptr) != cudaSuccess) return 4;
  if (cudaDeviceSynchronize() != cudaSuccess) return 5;
  for (int i = 0; i < n; ++i)
    if (p[i] != (i + steps) % n + steps) return std::printf("%d: %d\n", i, p[i]), 6;
  const auto large = cudaLaunchCooperativeKernel(rotate, dim3(100000), dim3(64), args, 0, nullptr);
  return large == cudaErrorCooperativeLaunchTooLarge ? 0 : 7;
}
