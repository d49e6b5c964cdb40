#pragma once
// shfl.sync: which lane each lane reads.
#include <cstdint>

#include "isa/core/effects.h"

namespace palladion::sim {

// `lane` and `clamp` are the operands b and c of 32 lanes (PTX, "shfl.sync", pseudocode). from[i] is the lane
// that lane i reads, its own where that lies outside of the segment. Returns the lanes whose source lies in
// it.
uint32_t shuffle_sources(isa::ShuffleMode mode, const uint32_t* lane, const uint32_t* clamp, int32_t* from);

}  // namespace palladion::sim
