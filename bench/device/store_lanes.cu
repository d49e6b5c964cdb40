// Which lane's value stays where lanes of one store write to one address: a line of text for each case and
// address, with the lanes that wrote there and the one whose value is in memory. PTX leaves it open. The same
// program under `palladion exec` gives the machine's answer:
//   nvcc -arch=sm_90 -o store_lanes bench/device/store_lanes.cu
//   ./store_lanes > chip.txt; palladion exec -- ./store_lanes > machine.txt; cmp chip.txt machine.txt
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <iterator>
#include <random>

enum class Store { u8, u16, u32, u64, v2_u32, v4_u32, v2_u64 };
constexpr const char* names[] = {"u8", "u16", "u32", "u64", "v2.u32", "v4.u32", "v2.u64"};
constexpr int lanes = 32, place = 16;  // bytes of an address
constexpr uint32_t masks[] = {0xFFFFFFFF, 0xFFFFFFFE, 0x5A3CF00E};
constexpr int addresses[] = {1, 2, 4, 16, 32};  // of which a lane takes one

struct Case {
  Store store;
  uint32_t mask;
  int where[lanes];
  uint8_t global[lanes], shared[lanes];  // by address: the lane whose value is there
};

#define STORE(SPACE, CONSTRAINT, POINTER, KIND, TYPE, VALUES, VALUE)                                             \
  case Store::KIND:                                                                                            \
    asm volatile("st." SPACE TYPE " [%0], " VALUES ";" ::CONSTRAINT(POINTER), VALUE : "memory");               \
    break;
#define STORES(SPACE, CONSTRAINT, POINTER)                                                                     \
  switch (c->store) {                                                                                          \
    STORE(SPACE, CONSTRAINT, POINTER, u8, ".u8", "%1", "r"(lane))                                              \
    STORE(SPACE, CONSTRAINT, POINTER, u16, ".u16", "%1", "h"(uint16_t(lane)))                                  \
    STORE(SPACE, CONSTRAINT, POINTER, u32, ".u32", "%1", "r"(lane))                                            \
    STORE(SPACE, CONSTRAINT, POINTER, u64, ".u64", "%1", "l"(uint64_t(lane)))                                  \
    STORE(SPACE, CONSTRAINT, POINTER, v2_u32, ".v2.u32", "{%1, %1}", "r"(lane))                                \
    STORE(SPACE, CONSTRAINT, POINTER, v4_u32, ".v4.u32", "{%1, %1, %1, %1}", "r"(lane))                        \
    STORE(SPACE, CONSTRAINT, POINTER, v2_u64, ".v2.u64", "{%1, %1}", "l"(uint64_t(lane)))                      \
  }

__global__ void perform(Case* cases, uint8_t* memory) {
  __shared__ __align__(16) uint8_t shared[lanes * place];
  Case* const c = cases + blockIdx.x;
  const uint32_t lane = threadIdx.x;
  uint8_t* const global = memory + size_t(blockIdx.x) * lanes * place;
  shared[lane * place] = 255;
  __syncwarp();
  if ((c->mask >> lane & 1) != 0) {
    STORES("global", "l", global + c->where[lane] * place)
    STORES("shared", "r", static_cast<uint32_t>(__cvta_generic_to_shared(shared + c->where[lane] * place)))
  }
  __syncwarp();
  c->global[lane] = global[lane * place];
  c->shared[lane] = shared[lane * place];
}

int main() {
  constexpr int repeats = 40;
  constexpr int count = std::size(names) * std::size(masks) * std::size(addresses) * repeats;
  Case* cases = nullptr;
  uint8_t* memory = nullptr;
  if (cudaMallocManaged(&cases, count * sizeof(Case)) != cudaSuccess ||
      cudaMalloc(&memory, size_t{count} * lanes * place) != cudaSuccess)
    return 1;
  cudaMemset(memory, 255, size_t{count} * lanes * place);
  std::mt19937 random(1);
  Case* c = cases;
  for (size_t s = 0; s < std::size(names); ++s)
    for (const uint32_t mask : masks)
      for (const int n : addresses)
        for (int r = 0; r < repeats; ++r, ++c) {
          c->store = static_cast<Store>(s);
          c->mask = mask;
          for (int& w : c->where) w = static_cast<int>(random() % static_cast<uint32_t>(n));
        }
  perform<<<count, lanes>>>(cases, memory);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < count; ++i)
    for (int w = 0; w < lanes; ++w) {
      uint32_t wrote = 0;
      for (int lane = 0; lane < lanes; ++lane)
        if ((cases[i].mask >> lane & 1) != 0 && cases[i].where[lane] == w) wrote |= 1U << lane;
      if (wrote != 0)
        std::printf("%s lanes %08x global %d shared %d\n", names[static_cast<int>(cases[i].store)], wrote,
                    cases[i].global[w], cases[i].shared[w]);
    }
}
