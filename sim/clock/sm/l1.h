#pragma once
// The L1 cache of an SM: lines of GMEM that it keeps beside shared memory; sectors are filled one by one.
#include <cstdint>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/clock/memory/request.h"

namespace palladion::sim::hardware {

inline constexpr uint32_t no_request = ~0U;

// When would a load find its lines in L1?
class L1 {
 public:
  L1(const isa::ClockParameters& p, uint64_t bytes);

  struct Served {
    Cycles ready = 0;            // what L1 holds is there
    uint32_t also = no_request;  // an earlier request that brings some of the lines
    Cycles cycles = 0;           // that L1 is occupied
  };
  // A load of `lines`, from its `first`, that begins at `start`. Lines that L1 holds or has asked for are
  // taken out of `lines`; the others are kept for `request`, unless the load goes `past` L1.
  Served load(std::vector<LineAccess>& lines, uint32_t first, uint32_t request, Cycles start, bool past);
  // L2 has answered the requests of the quantum.
  void answered(const Batch& batch);
  // A store: what L1 has of it is out of date.
  void invalidate(const LineAccess& access);
  // An acquire: nothing that is there may be read any more.
  void drop() { ++epoch_; }

 private:
  // A line that a request of this quantum brings.
  struct Fill {
    uint64_t line = 0;
    uint32_t request = 0;
  };
  struct Line {
    uint64_t line = never;
    Cycle used;
    Cycle filled;          // cycle in which the sectors are there; `never` while a request is under way
    uint32_t request = 0;  // that brings them, in the batch of this quantum
    uint8_t sectors = 0;
    uint32_t epoch = 0;
  };
  Line* find(uint64_t line);  // nullptr: it is not there
  Line& allocate(uint64_t line, Cycle time);

  static constexpr size_t ways = 8;
  double hit_latency_, bytes_per_cycle_;
  Cycles free_ = 0;
  std::vector<Line> lines_;
  std::vector<Fill> fills_;
  uint64_t sets_ = 0;
  uint32_t epoch_ = 0;
};

}  // namespace palladion::sim::hardware
