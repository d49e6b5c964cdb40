#pragma once
// Tensor data that are not materialised (RunOptions::values): one byte for each `granule` bytes of a memory,
// 1 when they are not. A store of a known value clears a granule only when it covers all of it.
#include <atomic>
#include <cstdint>

namespace palladion::sim {

template <uint64_t granule>
void mark_unmaterialised(uint8_t* map, uint64_t offset, uint64_t bytes, bool unmaterialised) {
  const uint64_t first = unmaterialised ? offset / granule : (offset + granule - 1) / granule;
  const uint64_t last = (offset + bytes + (unmaterialised ? granule - 1 : 0)) / granule;
  // Host threads that run different clusters may access the same entry.
  for (uint64_t i = first; i < last; ++i)
    std::atomic_ref(map[i]).store(unmaterialised ? 1 : 0, std::memory_order_relaxed);
}

template <uint64_t granule>
bool any_unmaterialised(uint8_t* map, uint64_t offset, uint64_t bytes) {
  for (uint64_t i = offset / granule; i * granule < offset + bytes; ++i)
    if (std::atomic_ref(map[i]).load(std::memory_order_relaxed) != 0) return true;
  return false;
}

}  // namespace palladion::sim
