#pragma once
// What each instruction of a program costs the SM that issues it: its definition's timing class, priced
// with the architecture's numbers, and the registers that it waits for and gives.
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/launch/clock.h"
#include "sim/program/program.h"

namespace palladion::sim::hardware {

// The pipes of arithmetic: each has a short queue, and a value that goes from one to another takes longer.
constexpr bool computes(Resource pipe) {
  return pipe == Resource::alu || pipe == Resource::fma || pipe == Resource::sfu;
}

// How an instruction meets memory or waits: which part of the SM's clock looks at it.
enum class Path : uint8_t {
  plain,         // registers alone
  shared_load,   // ld.shared, ldmatrix, atom.shared
  shared_store,  // st.shared, stmatrix, red.shared
  cluster_load,  // of a peer's shared memory
  cluster_store,
  global_load,
  global_store,
  global_atomic,
  async,  // issues asynchronous operations
  waits,  // barriers, groups, mbarriers: others may go on after it
  fence,
  exit,
};

// Scoreboards that loads have for themselves.
inline constexpr uint32_t board_count = 4;

struct Price {
  Path path = Path::plain;
  isa::Unit unit = isa::Unit::alu;
  Resource pipe = Resource::issue;
  Stall result = Stall::wait;  // what a warp waits for that needs its result
  bool free = false;           // ptxas leaves nothing of it
  uint32_t slots = 1;          // cycles of the sub-core's issue slot
  double interval = 1;         // cycles of the unit
  double held = 1;             // cycles until the warp issues its next instruction, at least
  uint32_t latency = 0;
  int32_t address = -1;      // operand with the address, of memory instructions
  uint32_t lanes = ~0U;      // whose addresses count (ldmatrix, stmatrix)
  bool takes_turns = false;  // atomics: lanes that name the same word go one after the other
  // An atomic whose address is the same in all lanes: ptxas adds them up and lets one lane do it. Cycles
  // until that lane has the sum, and from its answer until all have their results.
  bool gathers = false;
  uint32_t gather = 0, scatter = 0;
  uint32_t port = 1;    // cycles of shared memory's port that a pass takes
  bool loops = false;   // ptxas makes a loop of it: `latency` is that of a round
  bool defers = false;  // ptxas moves others in front of it while its operands are on their way
  bool branches = false;
  uint8_t board = 0;      // of a load of GMEM, from 1: its scoreboard
  bool past_l1 = false;   // a load that L1 neither answers nor keeps
  bool early = false;     // of a branch's predicate: done as early in its block as its operands allow
  bool spins = false;     // a branch back to a wait for an mbarrier
  bool unrolled = false;  // a branch back whose loop ptxas unrolls by four
  uint32_t release = 0;   // cycles of the fence that stands in front of a release at cluster scope or above
  bool acquires = false;  // at cluster scope or above: drops what L1 holds
  bool drains = false;    // reads a clock, or a fence: everything before it has its operands
  bool holds = false;     // the warp's next of its kind issues after `interval`: mbarrier arrivals
  bool rows = false;      // each address is a row of 16 bytes: ldmatrix, stmatrix
  uint32_t bytes = 0;     // a lane
  bool atomic = false;    // atom, red: of the cluster's shared memory
  isa::Space space = isa::Space::generic;
  uint32_t first_read = 0, reads = 0;  // in Prices::registers
  uint32_t first_write = 0, writes = 0;

  void vanish() {
    slots = 0;
    free = true;
  }
};

// Slots and latencies of `isa::OpCost` are whole.
inline uint32_t whole(double cycles) { return static_cast<uint32_t>(std::lround(cycles)); }

class Prices {
 public:
  Prices(const Program& program, const isa::ClockParameters& parameters);

  const Price& operator[](uint32_t pc) const { return prices_[pc]; }
  // Registers by number, dense from 0.
  std::span<const uint32_t> reads(const Price& p) const {
    return {registers_.data() + p.first_read, p.reads};
  }
  std::span<const uint32_t> writes(const Price& p) const {
    return {registers_.data() + p.first_write, p.writes};
  }
  uint32_t register_count() const { return register_count_; }
  double fence_interval() const { return fence_interval_; }  // cycles between two fences of an SM
  // Cycles more for a value that another of the arithmetic pipes has computed, for one that a branch waits
  // for.
  uint64_t hand_over(Resource from, Resource to) const {
    return from != to && computes(from) && computes(to) ? hand_over_ : 0;
  }
  uint64_t branch_predicate() const { return branch_predicate_; }

 private:
  std::vector<Price> prices_;
  std::vector<uint32_t> registers_;
  uint32_t register_count_ = 0;
  double fence_interval_ = 1;
  uint64_t hand_over_, branch_predicate_;
};

}  // namespace palladion::sim::hardware
