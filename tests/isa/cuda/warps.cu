// Votes, matches, reductions over a warp, cooperative groups, mma.sync with ldmatrix and cp.async.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

extern "C" __global__ void votes(const int* in, unsigned* out) {
  const int v = in[threadIdx.x];
  unsigned r = __ballot_sync(0xffffffffu, v > 3);
  r += __any_sync(0xffffffffu, v == 1) + 2 * __all_sync(0xffffffffu, v != 0);
  r ^= __match_any_sync(0xffffffffu, v);
  int same = 0;
  r += __match_all_sync(0xffffffffu, v, &same) + same;
  r += __reduce_add_sync(0xffffffffu, v) + __reduce_max_sync(0xffffffffu, v) + __reduce_or_sync(0xffffffffu, (unsigned)v);
  r += __shfl_sync(0xffffffffu, v, 5) + __shfl_up_sync(0xffffffffu, v, 1, 8) + __activemask() + __syncthreads_count(v > 2);
  r += __syncthreads_or(v) + __syncthreads_and(v);
  __syncwarp();
  __nanosleep(20);
  out[threadIdx.x] = r;
}

extern "C" __global__ void groups(const int* in, int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const int s = cg::reduce(tile, in[block.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 0) out[block.thread_rank() / 16] = s;
  const cg::coalesced_group active = cg::coalesced_threads();
  if (active.thread_rank() == 0) atomicAdd(out, (int)active.size());
  block.sync();
}

// 16x16 times 16x8, one warp.
extern "C" __global__ void warp_matrix(const __half* a, const __half* b, float* c) {
  __shared__ __align__(128) __half tile_a[16 * 16];
  __shared__ __align__(128) __half tile_b[16 * 8];
  const int lane = threadIdx.x;
  __pipeline_memcpy_async(tile_a + 8 * lane, a + 8 * lane, 16);
  if (lane < 16) __pipeline_memcpy_async(tile_b + 8 * lane, b + 8 * lane, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  unsigned fa[4], fb[2];
  const unsigned at_a = (unsigned)__cvta_generic_to_shared(tile_a + (lane % 16) * 16 + (lane / 16) * 8);
  const unsigned at_b = (unsigned)__cvta_generic_to_shared(tile_b + (lane % 16) * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
               : "r"(at_a));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(at_b));
  float d[4];
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]), "f"(0.f), "f"(0.f), "f"(0.f), "f"(0.f));
  const int row = lane / 4, column = 2 * (lane % 4);
  c[row * 8 + column] = d[0], c[row * 8 + column + 1] = d[1];
  c[(row + 8) * 8 + column] = d[2], c[(row + 8) * 8 + column + 1] = d[3];
}
