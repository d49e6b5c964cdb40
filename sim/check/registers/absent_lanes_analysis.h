#pragma once
// Which registers may hold a value that a shuffle took from a lane that does not take part, or the first CTA
// of a refused cluster launch, found once a program: the results of those instructions, and whatever is
// computed of them. Instructions that name one, and calls, are watched.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/check/registers/watch.h"

namespace palladion::sim::check {

class AbsentLanesAnalysis {
 public:
  explicit AbsentLanesAnalysis(const Program& program);

  bool watches(Pc pc) const { return watched_[pc] != 0; }
  // Bits of a lane of the register in this slot of a warp's block; 1: a predicate, or the carry flag.
  uint32_t width(uint32_t slot) const;

 private:
  bool spread(const Program& program, const MicroOp& op);
  bool pass(const Program& program, const MicroOp& op, const isa::Call& call);
  bool add(const Program& program, uint32_t reg, uint32_t function);

  std::vector<uint8_t> watched_;                     // by pc
  std::vector<uint8_t> held_;                        // by register
  bool in_private_memory_ = false;                   // one is stored to local memory or a parameter
  std::unordered_map<uint32_t, uint32_t> width_of_;  // by slot
};

}  // namespace palladion::sim::check
