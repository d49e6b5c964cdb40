// Which bits of a tensor map's 128 bytes does the chip read? Maps that the driver encoded are changed in one
// bit and used by a tensor copy; what it did is compared with what the unchanged map does. A line for each
// map and direction: the words that are not zero, and the bits that made a difference, WORD.BITd, or a fault,
// WORD.BITf. Bits of the address, of im2col, the rank, and of sizes and strides that the map has are not
// tried; "any" stands for other words from 8 on.
//
//   nvcc -arch=sm_90a -std=c++17 -o tensor_map_bits bench/device/tensor_map_bits.cu -lcuda &&
//   ./tensor_map_bits
#include <cuda.h>
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

constexpr int tile_bytes = 32768;
constexpr size_t tensor_bytes = 1 << 20;

struct Base {
  const char* name;
  bool im2col;
  CUtensorMapDataType type;
  int element, rank;
  uint64_t dims[5], strides[4];
  uint32_t box[5], steps[5];
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapFloatOOBfill fill;
  int at[5];
  int lower[3], upper[3];
  uint32_t channels, pixels;
  int offsets[3];
};

const Base bases[] = {
    {"tiled-f16-2D-swizzle-128",
     false,
     CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
     2,
     2,
     {256, 64},
     {512},
     {64, 32},
     {1, 1},
     CU_TENSOR_MAP_INTERLEAVE_NONE,
     CU_TENSOR_MAP_SWIZZLE_128B,
     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
     {16, 40}},
    {"tiled-f32-3D-NaN",
     false,
     CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
     4,
     3,
     {60, 40, 8},
     {240, 9600},
     {32, 8, 4},
     {1, 1, 1},
     CU_TENSOR_MAP_INTERLEAVE_NONE,
     CU_TENSOR_MAP_SWIZZLE_NONE,
     CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
     {40, 3, 6}},
    {"tiled-tf32-2D-swizzle-32",
     false,
     CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
     4,
     2,
     {64, 64},
     {256},
     {8, 16},
     {1, 1},
     CU_TENSOR_MAP_INTERLEAVE_NONE,
     CU_TENSOR_MAP_SWIZZLE_32B,
     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
     {8, 8}},
    {"tiled-u8-5D-steps",
     false,
     CU_TENSOR_MAP_DATA_TYPE_UINT8,
     1,
     5,
     {64, 8, 8, 4, 4},
     {64, 512, 4096, 16384},
     {32, 4, 4, 2, 2},
     {1, 2, 1, 2, 1},
     CU_TENSOR_MAP_INTERLEAVE_NONE,
     CU_TENSOR_MAP_SWIZZLE_NONE,
     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
     {16, 1, 2, 1, 1}},
    {"tiled-f64-1D",
     false,
     CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
     8,
     1,
     {512},
     {},
     {64},
     {1},
     CU_TENSOR_MAP_INTERLEAVE_NONE,
     CU_TENSOR_MAP_SWIZZLE_NONE,
     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
     {32}},
    {"im2col-f16-4D",
     true,
     CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
     2,
     4,
     {64, 16, 16, 4},
     {128, 2048, 32768},
     {},
     {1, 1, 1, 1},
     CU_TENSOR_MAP_INTERLEAVE_NONE,
     CU_TENSOR_MAP_SWIZZLE_64B,
     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
     {0, 2, 3, 1},
     {-1, -1},
     {1, 1},
     32,
     64,
     {1, 1}},
};

void fail(const char* what, int code) {
  std::printf("# %s: %d\n", what, code);
  std::exit(1);
}

CUtensorMap encode(const Base& b, void* tensor) {
  CUtensorMap map;
  const CUtensorMapL2promotion l2 = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  const int r = b.im2col ? cuTensorMapEncodeIm2col(&map, b.type, b.rank, tensor, (const cuuint64_t*)b.dims,
                                                   (const cuuint64_t*)b.strides, b.lower, b.upper, b.channels,
                                                   b.pixels, b.steps, b.interleave, b.swizzle, l2, b.fill)
                         : cuTensorMapEncodeTiled(&map, b.type, b.rank, tensor, (const cuuint64_t*)b.dims,
                                                  (const cuuint64_t*)b.strides, b.box, b.steps, b.interleave,
                                                  b.swizzle, l2, b.fill);
  if (r != 0) fail(b.name, r);
  return map;
}

uint32_t bytes_of(const Base& b) {
  uint32_t n = b.element;
  if (b.im2col) return n * b.channels * b.pixels;
  for (int i = 0; i < b.rank; ++i)
    n *= (b.box[i] + (i == 0 && b.interleave == 0 ? 1 : b.steps[i]) - 1) /
         (i == 0 && b.interleave == 0 ? 1 : b.steps[i]);
  return n;
}

struct Where {
  int rank, im2col, c[5], o[3];
};

#define LOAD(kind, coords, tail, ...)                                                          \
  asm volatile("cp.async.bulk.tensor." kind ".mbarrier::complete_tx::bytes [%0], [%1, " coords \
               "], [%2]" tail ";" ::"r"(tile),                                                 \
               "l"(&map), "r"(bar), __VA_ARGS__                                                \
               : "memory")

__device__ void load(const CUtensorMap& map, const Where& w, uint32_t tile, uint32_t bar) {
  const int* c = w.c;
  const uint16_t o0 = w.o[0], o1 = w.o[1];
  if (w.im2col && w.rank == 3)
    LOAD("3d.shared::cluster.global.im2col", "{%3,%4,%5}", ", {%6}", "r"(c[0]), "r"(c[1]), "r"(c[2]),
         "h"(o0));
  else if (w.im2col)
    LOAD("4d.shared::cluster.global.im2col", "{%3,%4,%5,%6}", ", {%7,%8}", "r"(c[0]), "r"(c[1]), "r"(c[2]),
         "r"(c[3]), "h"(o0), "h"(o1));
  else if (w.rank == 1)
    LOAD("1d.shared::cluster.global.tile", "{%3}", "", "r"(c[0]));
  else if (w.rank == 2)
    LOAD("2d.shared::cluster.global.tile", "{%3,%4}", "", "r"(c[0]), "r"(c[1]));
  else if (w.rank == 3)
    LOAD("3d.shared::cluster.global.tile", "{%3,%4,%5}", "", "r"(c[0]), "r"(c[1]), "r"(c[2]));
  else if (w.rank == 4)
    LOAD("4d.shared::cluster.global.tile", "{%3,%4,%5,%6}", "", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
  else
    LOAD("5d.shared::cluster.global.tile", "{%3,%4,%5,%6,%7}", "", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]),
         "r"(c[4]));
}

#define STORE(kind, coords, ...)                                                                          \
  asm volatile("cp.async.bulk.tensor." kind ".bulk_group [%1, " coords "], [%0];" ::"r"(tile), "l"(&map), \
               __VA_ARGS__                                                                                \
               : "memory")

__device__ void store(const CUtensorMap& map, const Where& w, uint32_t tile) {
  const int* c = w.c;
  if (w.im2col && w.rank == 3)
    STORE("3d.global.shared::cta.im2col_no_offs", "{%2,%3,%4}", "r"(c[0]), "r"(c[1]), "r"(c[2]));
  else if (w.im2col)
    STORE("4d.global.shared::cta.im2col_no_offs", "{%2,%3,%4,%5}", "r"(c[0]), "r"(c[1]), "r"(c[2]),
          "r"(c[3]));
  else if (w.rank == 1)
    STORE("1d.global.shared::cta.tile", "{%2}", "r"(c[0]));
  else if (w.rank == 2)
    STORE("2d.global.shared::cta.tile", "{%2,%3}", "r"(c[0]), "r"(c[1]));
  else if (w.rank == 3)
    STORE("3d.global.shared::cta.tile", "{%2,%3,%4}", "r"(c[0]), "r"(c[1]), "r"(c[2]));
  else if (w.rank == 4)
    STORE("4d.global.shared::cta.tile", "{%2,%3,%4,%5}", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
  else
    STORE("5d.global.shared::cta.tile", "{%2,%3,%4,%5,%6}", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]),
          "r"(c[4]));
}

// out: the tile, then one word: 1 if the mbarrier completed.
__global__ void load_kernel(const __grid_constant__ CUtensorMap map, Where w, uint32_t bytes, uint32_t* out) {
  extern __shared__ __align__(1024) uint32_t tile[];
  __shared__ __align__(8) uint64_t mbar;
  const uint32_t bar = __cvta_generic_to_shared(&mbar);
  for (int i = threadIdx.x; i < tile_bytes / 4; i += blockDim.x) tile[i] = 0xEEEEEEEE;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
    load(map, w, __cvta_generic_to_shared(tile), bar);
  }
  uint32_t done = 0;
  const long long begin = clock64();
  while (!done && clock64() - begin < 4000000)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(bar)
                 : "memory");
  __syncthreads();
  for (int i = threadIdx.x; i < tile_bytes / 4; i += blockDim.x) out[i] = tile[i];
  if (threadIdx.x == 0) out[tile_bytes / 4] = done;
}

__global__ void store_kernel(const __grid_constant__ CUtensorMap map, Where w) {
  extern __shared__ __align__(1024) uint32_t tile[];
  for (int i = threadIdx.x; i < tile_bytes / 4; i += blockDim.x) tile[i] = i * 2654435761u + 12345;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    store(map, w, __cvta_generic_to_shared(tile));
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

uint64_t hash(const std::vector<uint32_t>& words) {
  uint64_t h = 1469598103934665603ull;
  for (uint32_t w : words) h = (h ^ w) * 1099511628211ull;
  return h;
}

struct Device {
  uint8_t* tensor;
  uint32_t* out;
  std::vector<uint32_t> first;  // of the tensor
};

// What a copy did; 0 is a fault, after which the process can do no more.
uint64_t done_by(const Device& d, const Base& b, const CUtensorMap& map, bool stores) {
  Where w{b.rank, b.im2col};
  std::memcpy(w.c, b.at, sizeof w.c);
  std::memcpy(w.o, b.offsets, sizeof w.o);
  std::vector<uint32_t> result;
  if (stores) {
    cudaMemcpy(d.tensor, d.first.data(), tensor_bytes, cudaMemcpyHostToDevice);
    store_kernel<<<1, 128, tile_bytes>>>(map, w);
    result.resize(tensor_bytes / 4);
    cudaMemcpy(result.data(), d.tensor, tensor_bytes, cudaMemcpyDeviceToHost);
  } else {
    load_kernel<<<1, 128, tile_bytes>>>(map, w, bytes_of(b), d.out);
    result.resize(tile_bytes / 4 + 1);
    cudaMemcpy(result.data(), d.out, result.size() * 4, cudaMemcpyDeviceToHost);
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return 0;
  return hash(result) | 1;
}

uint64_t word(const CUtensorMap& m, int i) {
  uint64_t w;
  std::memcpy(&w, reinterpret_cast<const char*>(&m) + 8 * i, 8);
  return w;
}
void put(CUtensorMap& m, int i, uint64_t w) { std::memcpy(reinterpret_cast<char*>(&m) + 8 * i, &w, 8); }

// Bits that another field than the address, the sizes and strides of the map's dimensions may have.
bool tried(const Base& b, int w, int bit) {
  if (w == 0) return false;
  if (w == 1 && (bit == 0 || (bit >= 4 && bit <= 6))) return false;  // im2col, rank: another instruction
  if (w == 1 && bit >= 32) return b.rank < 2;
  if (w == 2) return (bit < 32 ? 2 : 3) >= b.rank;
  if (w == 3 && bit < 32) return b.rank < 5;
  if (w == 3 && bit < 48) return (bit - 32) / 4 + 1 >= b.rank;
  if (w == 4 || w == 5) return 2 * (w - 4) + bit / 32 >= b.rank;
  if (w == 6 && bit < 32) return b.rank < 5;
  return true;
}

// What one process has found of the map and the direction that it is at; a fault ends it, and its successor
// goes on.
struct Row {
  int number = 0;  // of the next trial
  std::string bits;
};

std::string words_of(const CUtensorMap& map) {
  std::string text;
  char one[32];
  for (int i = 0; i < 16; ++i)
    if (word(map, i) != 0)
      std::snprintf(one, sizeof one, " %d=%llx", i, (unsigned long long)word(map, i)), text += one;
  return text;
}

// The maps to try: with one bit changed; as CuTe DSL makes them, bit 1 of word 1 and anything behind word 7.
struct Trial {
  std::string name;
  CUtensorMap map;
};
std::vector<Trial> trials_of(const Base& b, const CUtensorMap& map) {
  std::vector<Trial> all;
  for (int w = 1; w < 16; ++w)
    for (int bit = 0; bit < 64; ++bit)
      if (tried(b, w, bit)) {
        all.push_back({std::to_string(w) + "." + std::to_string(bit), map});
        put(all.back().map, w, word(map, w) ^ (1ull << bit));
      }
  for (int i = 0; i < 40; ++i) {
    all.push_back({"any", map});
    std::mt19937_64 any(i);
    put(all.back().map, 1, word(map, 1) | 2);
    for (int w = 8; w < 16; ++w) put(all.back().map, w, any());
  }
  return all;
}

int main(int argc, char** argv) {
  Row row;
  if (argc > 2) row = {std::atoi(argv[1]), argv[2]};
  const int begin = row.number;
  Device d;
  if (const int r = cudaMalloc(&d.tensor, tensor_bytes)) fail("cudaMalloc", r);
  cudaMalloc(&d.out, tile_bytes + 4);
  d.first.resize(tensor_bytes / 4);
  std::mt19937 random(7);
  for (uint32_t& x : d.first) x = 0x3f800000u + random() % 0x1000000u;  // finite in every type
  cudaMemcpy(d.tensor, d.first.data(), tensor_bytes, cudaMemcpyHostToDevice);

  int number = 0;
  for (const Base& b : bases)
    for (const bool stores : {false, true}) {
      if (b.im2col && stores) continue;  // its corners are for loads only
      const CUtensorMap map = encode(b, d.tensor);
      uint64_t expected = 0;
      bool here = false;
      for (const Trial& t : trials_of(b, map)) {
        if (number++ < begin) continue;
        here = true;
        if (expected == 0 && (expected = done_by(d, b, map, stores)) == 0)
          fail("the driver's own map", number);
        const uint64_t got = done_by(d, b, t.map, stores);
        if (got != expected) row.bits += " " + t.name + (got == 0 ? "f" : "d");
        if (got == 0) {
          const std::string next = std::to_string(number);
          std::fflush(stdout);
          execl(argv[0], argv[0], next.c_str(), row.bits.c_str(), nullptr);
        }
        if (got != expected) cudaMemcpy(d.tensor, d.first.data(), tensor_bytes, cudaMemcpyHostToDevice);
      }
      if (here) {
        std::printf("%s %s%s :%s\n", stores ? "store" : "load", b.name, words_of(map).c_str(),
                    row.bits.c_str());
        row.bits.clear();
      }
      cudaMemcpy(d.tensor, d.first.data(), tensor_bytes, cudaMemcpyHostToDevice);
    }
}
