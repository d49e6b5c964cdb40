#pragma once
// Lanes' accesses of GMEM between boundaries, where a cluster's own stores wait in its buffer.
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

// `at`: where the `size` bytes of each of the `lanes` are in GMEM; becomes where the cluster sees them, which
// is in `copies` for those that are partly in the buffer.
void see_own_stores(const Exec& x, const uint64_t* addresses, uint32_t lanes, uint64_t size, uint8_t** at,
                    uint8_t (*copies)[32]);
// The same; becomes where the lanes are to write. The addresses are multiples of `size`, a power of two.
void delay_stores(const Exec& x, const uint64_t* addresses, uint32_t lanes, uint64_t size, uint8_t** at);

}  // namespace palladion::sim
