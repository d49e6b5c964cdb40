#pragma once
// Control-flow graph of a function: basic blocks, edges, and for each block the point where
// diverged threads reconverge: its immediate post-dominator, over paths that do not end the thread early.
#include <cstdint>
#include <vector>

#include "isa/core/module.h"

namespace palladion::isa {

struct Block {
  uint32_t first = 0, last = 0;  // instructions [first, last)
  std::vector<uint32_t> successors, predecessors;
  uint32_t reconverge = no_id;  // block id; no_id = not before they end or return
};

struct Cfg {
  std::vector<Block> blocks;
  std::vector<uint32_t> block_of;  // instruction -> block
};

Cfg build_cfg(const Function& function);

}  // namespace palladion::isa
