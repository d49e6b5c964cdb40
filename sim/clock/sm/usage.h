#pragma once
// What an SM has done so far, for the report.
#include <array>
#include <cstdint>

#include "sim/clock/memory/cycles.h"
#include "sim/launch/clock.h"

namespace palladion::sim::hardware {

struct Usage {
  void book(Resource r, Cycles cycles) { busy[static_cast<size_t>(r)] += cycles; }
  Cycles of(Resource r) const { return busy[static_cast<size_t>(r)]; }

  std::array<Cycles, resource_count> busy{};  // by resource: how long it was occupied
  uint64_t instructions = 0;                  // of SASS
  uint64_t bank_conflicts = 0;                // further passes of shared memory
  uint64_t tcgen05_products = 0;              // multiplications
};

}  // namespace palladion::sim::hardware
