#pragma once
// The tensor core of an SM: products of all its warpgroups, one after the other.
#include <algorithm>
#include <array>
#include <cstdint>

#include "isa/arch/clock.h"
#include "sim/clock/memory/lines.h"

namespace palladion::sim::hardware {

// When would a wgmma be served?
class TensorCore {
 public:
  explicit TensorCore(const isa::ClockParameters& p) : p_(&p) {}

  struct Product {
    uint32_t rows = 0, columns = 0;
    bool a_in_registers = false;
  };
  struct Served {
    Cycles start = 0, end = 0, cycles = 0;
    Cycles reads = 0;   // cycles of shared memory's port
    Cycles landed = 0;  // its results are there
  };
  // The last of the warpgroup's four warps has issued it at `now`.
  Served take(uint64_t warpgroup, const Product& product, Cycles now);

  // A tcgen05 product's share of one SM, or a copy into its tensor memory.
  struct TensorMemoryWork {
    Cycles cycles = 0;  // of the data path
    Cycles reads = 0;   // of shared memory's port
  };
  // When one that is issued at `now` begins.
  Cycles begins(Cycles now) const { return std::max(now, free_); }
  // It runs from `start` on: two SMs that work as a pair begin together.
  Served run(const TensorMemoryWork& work, Cycles start);

  // When the queue has room for another instruction: those of all warpgroups wait in one.
  Cycles opens() const;
  // Whether it reads operands from shared memory at `time`, and the share of the port that it leaves then.
  bool is_reading(Cycles time) const { return time < free_; }
  double port_left(Cycles time) const;
  // When a warp's long sequences of arithmetic may issue: while another warpgroup's instructions are under
  // way not before its own would have ended without them.
  Cycles sequences_open(uint64_t warpgroup, Cycles time) const;

 private:
  // A warpgroup that used it lately: when its instructions end, and would have ended on their own.
  struct User {
    uint64_t warpgroup = never;
    Cycles end = 0, alone = 0;
  };
  User& user(uint64_t warpgroup);

  const isa::ClockParameters* p_;
  Cycles free_ = 0;
  double port_share_ = 0;          // that the instruction under way reads with
  std::array<Cycles, 16> ends_{};  // of the instructions that it took last
  uint32_t taken_ = 0;
  std::array<User, 4> users_;
};

}  // namespace palladion::sim::hardware
