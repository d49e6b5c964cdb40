// In which order a chip performs the lanes of one atomic instruction of one warp: a line of text for each
// case, with the values that lanes add, memory before and after, and what each lane found. The same program
// under `palladion exec` gives the machine's order:
//   nvcc -arch=sm_90 -o atomics_order bench/device/atomics_order.cu
//   ./atomics_order > chip.txt; palladion exec -- ./atomics_order > machine.txt; cmp chip.txt machine.txt
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <iterator>

enum class Op {
  atom_u32,
  atom_f32,
  red_f32,
  atom_shared_u32,
  atom_shared_f32,
  red_shared_f32,
  red_f64,
  red_f16x2,
  red_bf16x2,
  red_v2_f32,
  exch,
  inc
};
constexpr const char* ops[] = {
    "atom.global.add.u32",   "atom.global.add.f32",        "red.global.add.f32",
    "atom.shared.add.u32",   "atom.shared.add.f32",        "red.shared.add.f32",
    "red.global.add.f64",    "red.global.add.noftz.f16x2", "red.global.add.noftz.bf16x2",
    "red.global.add.v2.f32", "atom.global.exch.b32",       "atom.global.inc.u32"};
constexpr const char* patterns[] = {"one address",
                                    "pairs",
                                    "fours",
                                    "two addresses in turns",
                                    "four addresses in turns",
                                    "random addresses",
                                    "odd lanes",
                                    "five lanes",
                                    "eights"};
constexpr int lanes = 32;

struct Case {
  Op op;
  int where[lanes];  // the word of memory; -1: the lane takes no part
  uint64_t value[lanes], memory[lanes], old[lanes];
};

__global__ void perform(Case* c) {
  __shared__ uint64_t shared[lanes];
  const int lane = threadIdx.x, where = c->where[lane];
  shared[lane] = c->memory[lane];
  __syncthreads();
  if (where >= 0) {
    uint64_t* const p = c->memory + where;
    const auto s = static_cast<uint32_t>(__cvta_generic_to_shared(shared + where));
    const uint64_t v = c->value[lane];
    const auto w = static_cast<uint32_t>(v);
    const float f = __uint_as_float(w), g = __uint_as_float(static_cast<uint32_t>(v >> 32));
    uint32_t old = 0;
    switch (c->op) {
      case Op::atom_u32:
        asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(w) : "memory");
        break;
      case Op::atom_f32:
        asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=r"(old) : "l"(p), "f"(f) : "memory");
        break;
      case Op::red_f32:
        asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(f) : "memory");
        break;
      case Op::atom_shared_u32:
        asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(s), "r"(w) : "memory");
        break;
      case Op::atom_shared_f32:
        asm volatile("atom.shared.add.f32 %0, [%1], %2;" : "=r"(old) : "r"(s), "f"(f) : "memory");
        break;
      case Op::red_shared_f32:
        asm volatile("red.shared.add.f32 [%0], %1;" ::"r"(s), "f"(f) : "memory");
        break;
      case Op::red_f64:
        asm volatile("red.global.add.f64 [%0], %1;" ::"l"(p), "d"(__longlong_as_double(v)) : "memory");
        break;
      case Op::red_f16x2:
        asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(p), "r"(w) : "memory");
        break;
      case Op::red_bf16x2:
        asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(p), "r"(w) : "memory");
        break;
      case Op::red_v2_f32:
        asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(f), "f"(g) : "memory");
        break;
      case Op::exch:
        asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(w) : "memory");
        break;
      case Op::inc:
        asm volatile("atom.global.inc.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(~0U) : "memory");
        break;
    }
    c->old[lane] = old;
  }
  __syncthreads();
  if (c->op >= Op::atom_shared_u32 && c->op <= Op::red_shared_f32) c->memory[lane] = shared[lane];
}

uint32_t random_bits() {
  static uint64_t state = 1;
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return static_cast<uint32_t>(state >> 33);
}
// Of either sign and several exponents, so that sums depend on their order.
uint32_t random_float() {
  return (random_bits() & 1) << 31 | (120 + random_bits() % 12) << 23 | (random_bits() & 0x7fffff);
}
uint32_t random_half() {
  return (random_bits() & 1) << 15 | (12 + random_bits() % 6) << 10 | (random_bits() & 0x3ff);
}
uint32_t random_bf16() { return random_float() >> 16; }

uint64_t value_of(Op op, int lane) {
  const auto pair = [](auto make) {
    return static_cast<uint64_t>(make()) | static_cast<uint64_t>(make()) << 16;
  };
  switch (op) {
    case Op::atom_u32:
    case Op::atom_shared_u32:
      return uint64_t{1} << lane;  // what a lane finds names the lanes before it
    case Op::atom_f32:
    case Op::atom_shared_f32:
      return static_cast<uint64_t>(127 + lane % 24) << 23;  // the same, exact for 24 lanes
    case Op::exch:
      return static_cast<uint64_t>(100 + lane);
    case Op::red_f64:
      return static_cast<uint64_t>(random_bits() & 1) << 63 |
             static_cast<uint64_t>(1000 + random_bits() % 40) << 52 | random_bits();
    case Op::red_f16x2:
      return pair(random_half);
    case Op::red_bf16x2:
      return pair(random_bf16);
    case Op::red_v2_f32:
      return random_float() | static_cast<uint64_t>(random_float()) << 32;
    default:
      return random_float();
  }
}

void fill(Case& c, Op op, int pattern) {
  c = {op, {}, {}, {}, {}};
  for (int l = 0; l < lanes; ++l) {
    const int where[] = {
        0,    l / 2, l / 4, l % 2, l % 4, static_cast<int>(random_bits() % 4), l % 2 ? 0 : -1, l < 5 ? 0 : -1,
        l / 8};
    const bool exact = op == Op::atom_f32 || op == Op::atom_shared_f32;
    c.where[l] = exact && l >= 24 ? -1 : where[pattern];
    c.value[l] = value_of(op, l);
    if (op == Op::red_f32) c.memory[l] = random_float();
  }
}

int main() {
  Case* on_device;
  cudaMalloc(&on_device, sizeof(Case));
  for (int op = 0; op < static_cast<int>(std::size(ops)); ++op)
    for (int pattern = 0; pattern < static_cast<int>(std::size(patterns)); ++pattern)
      for (int trial = 0; trial < 12; ++trial) {
        Case c;
        fill(c, static_cast<Op>(op), pattern);
        cudaMemcpy(on_device, &c, sizeof c, cudaMemcpyHostToDevice);
        perform<<<1, lanes>>>(on_device);
        if (const cudaError_t e = cudaMemcpy(&c, on_device, sizeof c, cudaMemcpyDeviceToHost);
            e != cudaSuccess) {
          std::fprintf(stderr, "%s: %s\n", ops[op], cudaGetErrorString(e));
          return 1;
        }
        std::printf("%s;%s", ops[op], patterns[pattern]);
        for (int l = 0; l < lanes; ++l)
          std::printf(";%d %llx %llx %llx", c.where[l], static_cast<unsigned long long>(c.value[l]),
                      static_cast<unsigned long long>(c.old[l]),
                      static_cast<unsigned long long>(c.memory[l]));
        std::printf("\n");
      }
}
