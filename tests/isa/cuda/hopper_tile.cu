// One 64x64 tile of C = A * B^T on a warpgroup: TMA loads into two stages, wgmma, results stored from
// registers. a: f16[m, k], b: f16[n, k], both through tensor maps with boxes of 64x64 and the 128-byte swizzle.
#include <cstdint>

struct alignas(64) TensorMap {
  uint64_t words[16];
};

__device__ uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ void barrier_init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}

__device__ void barrier_expect(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

__device__ void barrier_wait(uint32_t bar, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\n"
      "bra again;\n"
      "over:\n"
      "}\n" ::"r"(bar),
      "r"(parity)
      : "memory");
}

__device__ void load_tile(uint32_t to, const TensorMap* map, int x, int y, uint32_t bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map),
      "r"(x), "r"(y), "r"(bar)
      : "memory");
}

// Matrix descriptor: address, stride of 1024 bytes between groups of 8 rows, 128-byte swizzle.
__device__ uint64_t descriptor(uint32_t address) {
  return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62;
}

__device__ void multiply(float (&d)[32], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p, 1, 1, 0, 0;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
        "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]),
        "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b), "r"(accumulate));
}

constexpr int stages = 2, tile = 64, tile_bytes = tile * tile * 2;

extern "C" __global__ void __launch_bounds__(128, 1)
    matmul_tile(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float* c, int n, int k) {
  extern __shared__ __align__(1024) unsigned char smem[];
  __shared__ alignas(8) uint64_t full[stages];
  const int row0 = blockIdx.y * tile, column0 = blockIdx.x * tile, steps = k / tile;
  const uint32_t tiles = shared_address(smem);
  const auto fetch = [&](int step) {
    const int s = step % stages;
    const uint32_t bar = shared_address(&full[s]), at = tiles + s * 2 * tile_bytes;
    barrier_expect(bar, 2 * tile_bytes);
    load_tile(at, &a, step * tile, row0, bar);
    load_tile(at + tile_bytes, &b, step * tile, column0, bar);
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) barrier_init(shared_address(&full[s]), 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int s = 0; s < stages && s < steps; ++s) fetch(s);
  float d[32];
  for (int i = 0; i < 32; ++i) d[i] = 0.0f;
  for (int step = 0; step < steps; ++step) {
    const int s = step % stages;
    barrier_wait(shared_address(&full[s]), (step / stages) & 1);
    const uint32_t at = tiles + s * 2 * tile_bytes;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int inner = 0; inner < tile / 16; ++inner) {
      multiply(d, descriptor(at + 32 * inner), descriptor(at + tile_bytes + 32 * inner), step + inner > 0);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0 && step + stages < steps) fetch(step + stages);
  }
  const int row = row0 + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = column0 + threadIdx.x % 4 * 2;
  for (int j = 0; j < 8; ++j) {
    *(float2*)(c + (size_t)row * n + column + 8 * j) = make_float2(d[4 * j], d[4 * j + 1]);
    *(float2*)(c + (size_t)(row + 8) * n + column + 8 * j) = make_float2(d[4 * j + 2], d[4 * j + 3]);
  }
}
