// A cluster sums over its CTAs through distributed shared memory.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const int* in, int* out) {
  __shared__ int value;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) value = in[blockIdx.x];
  cluster.sync();
  int s = 0;
  for (unsigned r = 0; r < cluster.num_blocks(); ++r) s += *cluster.map_shared_rank(&value, r);
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = s + (int)cluster.block_rank();
}

extern "C" __global__ void dependent(int* data) {
  cudaGridDependencySynchronize();
  data[threadIdx.x] += 1;
  cudaTriggerProgrammaticLaunchCompletion();
}

extern "C" __global__ void clocks(long long* out, unsigned* ids) {
  unsigned lane, warp, sm;
  unsigned long long now;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  out[threadIdx.x] = clock64() + clock() + (long long)now;
  ids[threadIdx.x] = lane + warp + sm;
}
