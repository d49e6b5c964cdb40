#pragma once
// Dominators and natural loops of a control-flow graph.
#include <cstdint>
#include <vector>

#include "isa/core/cfg.h"

namespace palladion::sim {

class Loops {
 public:
  explicit Loops(const isa::Cfg& cfg);

  // Every way from the function's start to block `b` passes block `by`; false for blocks that nothing
  // reaches.
  bool dominates(uint32_t by, uint32_t b) const;
  // Block `b` lies in every loop that block `a` lies in.
  bool stays(uint32_t a, uint32_t b) const;
  // Block `c` lies in every loop that holds both `a` and `b`.
  bool keeps(uint32_t a, uint32_t b, uint32_t c) const;
  // Some loop holds both; `but`: by block, loops with these heads do not count.
  bool share(uint32_t a, uint32_t b, const std::vector<bool>& but) const;

 private:
  void find_dominators();
  void find_loops();

  const isa::Cfg& cfg_;
  struct Loop {
    uint32_t head = 0;
    std::vector<bool> blocks;  // by block, whether it is in the loop
  };

  std::vector<uint32_t> dominator_;  // immediate, by block; no_id: not reached
  std::vector<uint32_t> order_;      // in reverse postorder, by block
  std::vector<Loop> loops_;
};

}  // namespace palladion::sim
