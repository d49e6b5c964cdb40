#pragma once
// What the pairs about wgmma have in common, and the parts of wgmma_pairs().
#include <string>
#include <string_view>
#include <vector>

#include "zoo/zoo.h"

namespace palladion::zoo {

// One warpgroup multiplies f16 tiles that lie in `tile` core matrix by core matrix, as they lie in `in`:
// A (64 x 16, 2048 bytes), then two of B (16 x 8, 256 bytes each). `body` starts when they are there, with
// their descriptors in %rd1, %rd2, %rd3 and true in %p4; `bias` is a (64 x 8) array of f32. What it leaves
// in %f0 to %f3 is stored.
Pair wgmma_pair(std::string name, std::string entry, std::string title, std::string code,
                std::string_view body, OnDevice on_device = OnDevice::ends);

// SMEM operands against those who write them.
std::vector<Pair> wgmma_operand_pairs();

}  // namespace palladion::zoo
