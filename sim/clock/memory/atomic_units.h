#pragma once
// The atomic units of L2, and the queues in front of them.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/clock/memory/cycles.h"
#include "sim/clock/memory/lines.h"

namespace palladion::sim::hardware {

// When would an atomic of a line be performed?
class AtomicUnits {
 public:
  AtomicUnits(const isa::ClockParameters& p, size_t units, size_t sms);

  struct Served {
    Cycles start = 0;
    Cycles room = 0;  // in the queue between the SM and the unit
  };
  // One of an SM, which is there at `time`. Lanes that want the same word go one after the other.
  Served take(uint32_t sm, const LineAccess& l, Cycles time);

 private:
  size_t unit_of(uint64_t line) const;
  Cycles queue(size_t queue, const LineAccess& l, Cycles start);

  static constexpr uint32_t lanes_queued = 8;

  const isa::ClockParameters& p_;
  std::vector<Cycles> free_;  // by unit
  // An SM's reductions that wait in front of a unit, by so many lanes: when each is served, and whose place
  // the next one takes. By SM and unit.
  size_t places_;
  std::vector<Cycles> served_;  // empty: there has been no atomic
  std::vector<uint32_t> next_;
};

}  // namespace palladion::sim::hardware
