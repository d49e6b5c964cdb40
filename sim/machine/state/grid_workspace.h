#pragma once
// What cooperative launches keep the grid's barrier in: cooperative_groups reads its address from %envreg1
// and 2, and its size, then the barrier, from there.
#include <cstring>

#include "sim/launch/launch.h"
#include "sim/machine/state/global_memory.h"

namespace palladion::sim {

inline constexpr uint32_t grid_workspace_bytes = 4096;

// Clears the workspace at `at`, which was allocated with that size, and names it in the launch.
inline void set_grid_workspace(GlobalMemory& memory, Address at, Launch& launch) {
  uint8_t* const bytes = memory.find(at, grid_workspace_bytes);
  std::memset(bytes, 0, grid_workspace_bytes);
  std::memcpy(bytes, &grid_workspace_bytes, sizeof grid_workspace_bytes);
  launch.environment[1] = static_cast<uint32_t>(at >> 32);
  launch.environment[2] = static_cast<uint32_t>(at);
}

}  // namespace palladion::sim
