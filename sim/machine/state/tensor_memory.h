#pragma once
// A CTA's tensor memory: 128 lanes of 512 columns of 32 bits, and which columns are allocated (PTX, "Tensor
// Memory"). Plain data; the rules are in sim/machine/exec/tensor_memory.cpp.
#include <array>
#include <cstdint>
#include <vector>

namespace palladion::sim {

struct TensorMemory {
  static constexpr uint32_t lanes = 128, columns = 512, unit = 32;  // unit: of allocation, columns

  std::vector<uint32_t> words;  // [lane][column]; empty until columns are allocated
  // By unit: the number of the allocation that has it, 0: free.
  std::array<uint16_t, columns / unit> owner{};
  uint16_t allocations = 0;   // so far
  bool relinquished = false;  // the right to allocate

  uint32_t* row(uint32_t lane) { return words.data() + size_t{lane} * columns; }
  const uint32_t* row(uint32_t lane) const { return words.data() + size_t{lane} * columns; }
  bool allocated(uint32_t column) const { return owner[column / unit] != 0; }

  // The first of `count` free columns that lie together; `columns` when there are none.
  uint32_t find_free(uint32_t count) const {
    uint32_t run = 0;
    for (uint32_t u = 0; u < owner.size(); ++u) {
      run = owner[u] == 0 ? run + unit : 0;
      if (run >= count) return (u + 1) * unit - count;
    }
    return columns;
  }
};

// Bytes of tensor memory as observers name them: all lanes of a column lie together, the CTA's rank is above
// bit 24 as in shared addresses.
constexpr uint64_t tensor_byte(uint32_t rank, uint32_t lane, uint32_t column) {
  return uint64_t{rank} << 24 | (uint64_t{column} * TensorMemory::lanes + lane) * 4;
}

}  // namespace palladion::sim
