#pragma once
#include <cstdint>

namespace palladion::sim {

// Of a byte of GMEM on the simulated device.
using Address = uint64_t;

}  // namespace palladion::sim
