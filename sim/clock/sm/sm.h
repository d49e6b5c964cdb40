#pragma once
// One SM: its units, each of which says when it would serve an instruction, and how long each was occupied.
#include <array>
#include <cstdint>

#include "isa/arch/clock.h"
#include "sim/clock/sm/cas_loops.h"
#include "sim/clock/sm/fences.h"
#include "sim/clock/sm/fetch.h"
#include "sim/clock/sm/l1.h"
#include "sim/clock/sm/load_store.h"
#include "sim/clock/sm/network.h"
#include "sim/clock/sm/smem_port.h"
#include "sim/clock/sm/tensor_core.h"
#include "sim/clock/sm/tma.h"

namespace palladion::sim::hardware {

struct Sm {
  // `l1_bytes` are left beside shared memory; the program has so many `instructions`.
  Sm(uint32_t place, const isa::ClockParameters& p, double fence_interval, uint64_t l1_bytes,
     size_t instructions)
      : id(place),
        lsu(p),
        stores(p),
        smem(p),
        cas_loops(p),
        l1(p, l1_bytes),
        tensor(p),
        tma(p),
        network(p),
        fences(p, fence_interval),
        code(p, instructions) {}

  void book(Resource r, double cycles) { busy[static_cast<size_t>(r)] += cycles; }

  uint32_t id = 0;  // its place, GPC by GPC
  LoadStoreUnit lsu;
  StorePath stores;
  SmemPort smem;
  CasLoops cas_loops;
  L1 l1;
  TensorCore tensor;
  TmaUnit tma;
  NetworkPort network;
  Fences fences;
  InstructionFetch code;
  std::array<double, resource_count> busy{};
  uint32_t next_sub = 0;  // sub-core of the next CTA's first warp
};

}  // namespace palladion::sim::hardware
