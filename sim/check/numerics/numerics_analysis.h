#pragma once
// Which instructions can make an infinity or a NaN out of ordinary numbers, found once a program.
#include <cstdint>
#include <vector>

#include "sim/check/registers/watch.h"

namespace palladion::sim::check {

class NumericsAnalysis {
 public:
  // A value a lane: f16x2 and bf16x2 are two.
  struct Value {
    Slot slot;
    isa::Type type = isa::Type::f32;
    uint32_t lane_bytes = 4;
  };
  struct Watched {
    std::vector<Value> sources, destinations;
    bool across_lanes = false;  // mma: a result comes from the operands of all lanes
    bool overwrites = false;    // a destination is a source, too
  };

  explicit NumericsAnalysis(const Program& program);

  bool watches(Pc pc) const { return watched_of_[pc] != 0; }
  const Watched& watched(Pc pc) const { return watched_[watched_of_[pc] - 1]; }

 private:
  void add(const MicroOp& op, isa::Values values);

  std::vector<uint32_t> watched_of_;  // by pc; index + 1
  std::vector<Watched> watched_;
};

}  // namespace palladion::sim::check
