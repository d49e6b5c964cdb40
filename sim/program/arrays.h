#pragma once
// Which arrays an instruction may access, as far as the program says: the kernel's pointers and the variables
// from which its address is computed. All assignments to a register count, in whatever order they stand.
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sim/program/program.h"

namespace palladion::sim {

class ArrayAnalysis {
 public:
  using Arrays = std::set<std::pair<uint32_t, int64_t>>;  // the module's symbol, the offset into a parameter

  explicit ArrayAnalysis(const Program& program);

  // Empty: not known, because a pointer comes from memory or from a caller.
  Arrays arrays(Pc pc) const;
  // False when the two instructions are known to access different arrays.
  bool may_share(Pc a, Pc b) const;

 private:
  class Search;
  const Program& program_;
  std::vector<std::vector<Pc>> writers_;  // by register
};

}  // namespace palladion::sim
