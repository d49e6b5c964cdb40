#pragma once
// A run as it stands at a boundary: a value. Observers are not part of it.
#include <memory>

#include "sim/machine/state/global_memory.h"
#include "sim/schedule/grid.h"

namespace palladion::sim {

struct Snapshot {
  GridState grid;
  std::shared_ptr<const Advance> schedule;
  MemoryImage memory;
  uint64_t position() const { return grid.boundaries; }
};

}  // namespace palladion::sim
