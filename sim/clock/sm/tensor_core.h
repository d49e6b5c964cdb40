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
    double start = 0, end = 0, cycles = 0;
    double reads = 0;   // cycles of shared memory's port
    double landed = 0;  // its results are there
  };
  // The last of the warpgroup's four warps has issued it at `now`.
  Served take(uint64_t warpgroup, const Product& product, double now);

  // A tcgen05 product's share of one SM, or a copy into its tensor memory.
  struct TensorMemoryWork {
    double cycles = 0;  // of the data path
    double reads = 0;   // of shared memory's port
  };
  // Its turn comes at `now` at the earliest; returns when it begins.
  double turn(double now) const { return std::max(now, free_); }
  // It runs from `start` on: two SMs that work as a pair begin together.
  Served run(const TensorMemoryWork& work, double start);

  // When the queue has room for another instruction: those of all warpgroups wait in one.
  double opens() const;
  // Whether it reads operands from shared memory at `time`, and the share of the port that it leaves then.
  bool is_reading(double time) const { return time < free_; }
  double port_left(double time) const;
  // When a warp's long sequences of arithmetic may issue: while another warpgroup's instructions are under
  // way not before its own would have ended without them.
  double sequences_open(uint64_t warpgroup, double time) const;

 private:
  // A warpgroup that used it lately: when its instructions end, and would have ended on their own.
  struct User {
    uint64_t warpgroup = never;
    double end = 0, alone = 0;
  };
  User& user(uint64_t warpgroup);

  const isa::ClockParameters* p_;
  double free_ = 0;
  double port_share_ = 0;          // that the instruction under way reads with
  std::array<double, 16> ends_{};  // of the instructions that it took last
  uint32_t taken_ = 0;
  std::array<User, 4> users_;
};

}  // namespace palladion::sim::hardware
