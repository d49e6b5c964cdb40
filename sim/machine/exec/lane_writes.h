#pragma once
// Results of a warp's lanes, computed beside their registers.
#include <cstring>

#include "sim/machine/exec/exec.h"

namespace palladion::sim {

inline constexpr int warp_size = 32;

template <class T>
void write_lanes(T* d, const T* values, uint32_t mask) {
  if (mask == ~0U) {
    std::memcpy(d, values, sizeof(T) * warp_size);
    return;
  }
  for (uint32_t m = mask; m != 0; m &= m - 1) d[std::countr_zero(m)] = values[std::countr_zero(m)];
}

inline void write_lanes(const Exec& x, const DecodedOperand& d, const uint32_t* values, uint32_t mask) {
  write_lanes(x.lanes<uint32_t>(d), values, mask);
}

}  // namespace palladion::sim
