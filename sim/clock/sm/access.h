#pragma once
// What the lanes of a memory instruction touch: banks and words of shared memory, lines of GMEM.
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/clock/memory/lines.h"

namespace palladion::sim::hardware {

// The addresses of the memory instruction that issues, valid where `lanes` says so.
struct LaneAddresses {
  uint64_t addresses[32] = {};
  uint32_t lanes = 0;
  uint32_t gathered = 0;  // cycles until one of them has the sum of all
  bool empty() const { return lanes == 0; }
  uint64_t first() const { return addresses[std::countr_zero(lanes)]; }
};

// Shared-memory passes that a warp's access takes: lanes in the same pass touch different banks, or the
// same word. `bytes` a lane: 4 and less in one group of 32 lanes, 8 in two halves, 16 in four quarters.
uint32_t shared_passes(const uint64_t* addresses, uint32_t lanes, uint32_t bytes);
// The most lanes that name the same word.
uint32_t most_alike(const uint64_t* addresses, uint32_t lanes);
// Passes of an atomic, for which lanes that name the same word are serialised too: the most lanes in one
// bank.
uint32_t atomic_passes(const uint64_t* addresses, uint32_t lanes, uint32_t bytes);
// The fewest passes for as many lanes.
uint32_t ideal_passes(uint32_t lanes, uint32_t bytes);

// The lines that a warp's access touches, appended in the order of lanes; returns how many.
uint32_t touched_lines(const uint64_t* addresses, uint32_t lanes, uint32_t bytes,
                       std::vector<LineAccess>& out);

}  // namespace palladion::sim::hardware
