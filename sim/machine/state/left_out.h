#pragma once
// Where tensor data were not moved (RunOptions::values): one byte for each `granule` bytes of a memory, 1
// when what should be there is not. A store of a known value gives a granule back only when it covers it.
#include <atomic>
#include <cstdint>

namespace palladion::sim {

template <uint64_t granule>
void mark_left_out(uint8_t* map, uint64_t offset, uint64_t bytes, bool left_out) {
  const uint64_t first = left_out ? offset / granule : (offset + granule - 1) / granule;
  const uint64_t last = (offset + bytes + (left_out ? granule - 1 : 0)) / granule;
  // Host threads that run different clusters may meet here.
  for (uint64_t i = first; i < last; ++i)
    std::atomic_ref(map[i]).store(left_out ? 1 : 0, std::memory_order_relaxed);
}

template <uint64_t granule>
bool any_left_out(uint8_t* map, uint64_t offset, uint64_t bytes) {
  for (uint64_t i = offset / granule; i * granule < offset + bytes; ++i)
    if (std::atomic_ref(map[i]).load(std::memory_order_relaxed) != 0) return true;
  return false;
}

}  // namespace palladion::sim
