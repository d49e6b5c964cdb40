#pragma once
// The slices of L2: each reads and writes one line after the other.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/clock/memory/cycles.h"
#include "sim/clock/memory/lines.h"

namespace palladion::sim::hardware {

// When would a line's slice begin with it?
class Slices {
 public:
  Slices(const isa::ClockParameters& p, Partitions partitions);

  // Cycles that a read of so many bytes occupies its slice: a short request as if it were for more.
  Cycles read_cycles(uint32_t bytes) const {
    return std::max<double>(bytes, p_.l2_short_request) * count() / p_.l2_bytes_per_cycle;
  }
  Cycles read(uint64_t line, uint32_t side, Cycles time, Cycles cycles);
  // Lines from HBM and from SMs are written alike.
  Cycles write(uint64_t line, uint32_t side, Cycles time, uint32_t bytes);
  // A store also takes some of what reads need.
  Cycles store(uint64_t line, uint32_t side, Cycles time, uint32_t bytes);

  size_t size() const { return slices_.size(); }
  // Cycles in which the whole L2 was occupied by reads.
  Cycles busy() const { return busy_; }

 private:
  struct Slice {
    Cycles read_free = 0, write_free = 0;
  };
  Slice& slice(uint64_t line, uint32_t side);
  double count() const { return static_cast<double>(slices_.size()); }

  const isa::ClockParameters& p_;
  Partitions partitions_;
  std::vector<Slice> slices_;
  Cycles busy_ = 0;
};

}  // namespace palladion::sim::hardware
