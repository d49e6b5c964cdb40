#pragma once
// Lanes of one warp that wait at different copies of the same warp-collective instruction
// (bar.warp.sync, shfl, vote, match, redux with a member mask) execute it together: PTX names lanes, not
// places in the program.
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

// Lanes of the groups that wait with the same mark as `g`, its own included.
uint32_t joinable_lanes(const WarpState& warp, const LaneGroup& g);

// Puts the operands of the partners into the registers that this group's instruction names; finish()
// hands out the results and restores the registers.
class Join {
 public:
  explicit Join(Exec& x);
  uint32_t lanes() const { return lanes_; }  // that execute the instruction
  void finish();

 private:
  struct Saved {
    uint32_t group;
    size_t operand;
    uint64_t values[32];
  };
  bool matches(const MicroOp& mine, const MicroOp& theirs) const;
  void take(uint32_t group, const MicroOp& mine, const MicroOp& theirs);

  Exec& x_;
  uint32_t lanes_;
  std::vector<uint32_t> partners_;
  std::vector<Saved> saved_;
};

}  // namespace palladion::sim
