#pragma once
// Which registers of a function hold a value that a later instruction may read. The time and memory that this
// takes grow with the blocks through which values live, not with blocks times registers.
#include <bit>
#include <cstdint>
#include <vector>

#include "isa/core/cfg.h"
#include "sim/program/program.h"

namespace palladion::sim {

class Liveness {
 public:
  // `function` is one that the program decodes, `cfg` its graph.
  Liveness(const Program& program, uint32_t function, const isa::Cfg& cfg);

  // visit(register of the function, from 0) for those that are live at the beginning, or at the end, of a
  // block.
  template <class Visit>
  void for_each_in(uint32_t block, const Visit& visit) const {
    for_each(in_[block], visit);
  }
  template <class Visit>
  void for_each_out(uint32_t block, const Visit& visit) const {
    for_each(out_[block], visit);
  }

 private:
  // Registers [first, first + 64), a bit each.
  struct Group {
    uint32_t first = 0;
    uint64_t live = 0;
  };
  using Groups = std::vector<Group>;
  template <class Visit>
  static void for_each(const Groups& groups, const Visit& visit) {
    for (const Group& g : groups)
      for (uint64_t left = g.live; left != 0; left &= left - 1)
        visit(g.first + static_cast<uint32_t>(std::countr_zero(left)));
  }

  std::vector<Groups> in_, out_;
};

}  // namespace palladion::sim
