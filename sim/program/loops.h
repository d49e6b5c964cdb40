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
  // Some loop holds both.
  bool share(uint32_t a, uint32_t b) const;

 private:
  void find_dominators();
  void find_loops();

  const isa::Cfg& cfg_;
  std::vector<uint32_t> dominator_;       // immediate, by block; no_id: not reached
  std::vector<uint32_t> order_;           // in reverse postorder, by block
  std::vector<std::vector<bool>> loops_;  // each: by block, whether it is in the loop
};

}  // namespace palladion::sim
