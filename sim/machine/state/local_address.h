#pragma once
// Generic addresses of local memory. On a chip those of all threads are alike, and an address of another
// thread reaches the user's own memory; here they name their thread, so that this is seen.
#include <cstdint>

#include "sim/machine/state/cluster.h"

namespace palladion::sim {

// From the lowest bit of an address in the window: an offset, 1 + the thread in its CTA (0: none), its CTA.
inline constexpr int local_offset_bits = 21, local_thread_bits = 11;
inline constexpr uint32_t local_ctas = 1U << (40 - local_offset_bits - local_thread_bits);

// Of a thread's local memory. `cta`: linear in the grid; those `local_ctas` apart are not distinguished.
constexpr uint64_t local_base(uint64_t cta, uint32_t thread) {
  return local_window + (((cta % local_ctas) << local_thread_bits | (thread + 1)) << local_offset_bits);
}

struct LocalAddress {
  int64_t offset = 0;   // may lie a MiB before the memory, or behind its begin
  uint32_t thread = 0;  // 1 + the thread in its CTA; 0: any
  uint32_t cta = 0;     // modulo local_ctas
};
constexpr LocalAddress local_address(uint64_t in_window) {
  constexpr uint64_t half = uint64_t{1} << (local_offset_bits - 1);
  const uint64_t from = in_window - local_window, base = (from + half) >> local_offset_bits;
  return {static_cast<int64_t>(from - (base << local_offset_bits)),
          static_cast<uint32_t>(base & ((1U << local_thread_bits) - 1)),
          static_cast<uint32_t>(base >> local_thread_bits) % local_ctas};
}

// Of an address of local memory or of parameters of a call, generic or not.
constexpr uint64_t local_offset(uint64_t address) {
  return address < local_window ? address : static_cast<uint64_t>(local_address(address).offset);
}

}  // namespace palladion::sim
