#pragma once
// A CTA's tensor memory: 128 lanes of 512 columns of 32 bits, and which columns are allocated (PTX, "Tensor
// Memory"). Plain data; the rules are in sim/machine/exec/tensor_memory.cpp.
#include <array>
#include <cstdint>

#include "sim/machine/state/bytes.h"

namespace palladion::sim {

struct TensorMemory {
  static constexpr uint32_t lanes = 128, columns = 512, unit = 32;  // unit: of allocation, columns

  Zeros<uint32_t> words;  // [lane][column]; empty until columns are allocated
  // By unit: the number of the allocation that has it, 0: free.
  std::array<uint16_t, columns / unit> owner{};
  uint16_t allocations = 0;   // so far
  bool relinquished = false;  // the right to allocate
  uint16_t elsewhere = 0;     // units that other CTAs of the SM have, a bit each
  // .cta_group::2: columns that this CTA's allocation waits with for its peer's, and the first column plus
  // one that the peer has allocated in both; 0: none.
  uint16_t wanted = 0, granted = 0;

  uint32_t* row(uint32_t lane) { return words.data() + size_t{lane} * columns; }
  const uint32_t* row(uint32_t lane) const { return words.data() + size_t{lane} * columns; }
  bool allocated(uint32_t column) const { return owner[column / unit] != 0; }

  // Units that are not free, a bit each.
  uint16_t own() const {
    uint32_t mask = 0;
    for (uint32_t u = 0; u < owner.size(); ++u) mask |= static_cast<uint32_t>(owner[u] != 0) << u;
    return static_cast<uint16_t>(mask);
  }
  uint16_t taken() const { return static_cast<uint16_t>(own() | elsewhere); }
  // The first of `count` columns that lie together and are free; `columns` when there are none.
  static uint32_t find_free(uint32_t taken, uint32_t count) {
    uint32_t run = 0;
    for (uint32_t u = 0; u < columns / unit; ++u) {
      run = (taken >> u & 1) == 0 ? run + unit : 0;
      if (run >= count) return (u + 1) * unit - count;
    }
    return columns;
  }
  void take(uint32_t first, uint32_t count) {
    if (words.empty()) words.resize(size_t{lanes} * columns);
    ++allocations;
    for (uint32_t u = 0; u < count / unit; ++u) owner[first / unit + u] = allocations;
  }
};

// Bytes of tensor memory as observers name them: all lanes of a column lie together, the CTA's rank is above
// bit 24 as in shared addresses.
constexpr uint64_t tensor_byte(CtaRank rank, uint32_t lane, uint32_t column) {
  return uint64_t{rank} << 24 | (uint64_t{column} * TensorMemory::lanes + lane) * 4;
}

}  // namespace palladion::sim
