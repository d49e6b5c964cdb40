#include "sim/clock/memory/atomic_units.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace palladion::sim::hardware {

AtomicUnits::AtomicUnits(const isa::ClockParameters& p, size_t units, size_t sms)
    : p_(p),
      free_(units),
      places_(std::max<size_t>(1, static_cast<size_t>(p.l2_atomic_queue) / lanes_queued)),
      next_(sms * units) {}

// A unit serves pairs of lines. Of a KiB two pairs share one, the others have their own; how evenly blocks
// are spread is chosen so that the most that one unit has of 8, 128 and 1024 lines is the chip's.
size_t AtomicUnits::unit_of(uint64_t line) const {
  const uint64_t units = free_.size(), block = line / 8, round = block / units, pair = line / 2 & 3;
  const uint64_t place = pair == 1 ? 29 * block + 17 : pair == 3 ? 41 * block + 71 : 5 * block;
  return (place + 5 * round) % units;
}

// When there is room for a request that is served at `start`.
Cycles AtomicUnits::queue(size_t queue, const LineAccess& l, Cycles start) {
  if (served_.empty()) served_.assign(next_.size() * places_, 0);
  const uint32_t lanes = std::min(32U, static_cast<uint32_t>(std::popcount(l.words)) * l.alike);
  Cycles room = 0;
  for (uint32_t i = 0; i < std::max(1U, lanes / lanes_queued); ++i) {
    room = std::exchange(served_[queue * places_ + next_[queue]], start);
    next_[queue] = static_cast<uint32_t>((next_[queue] + 1) % places_);
  }
  return room;
}

AtomicUnits::Served AtomicUnits::take(uint32_t sm, const LineAccess& l, Cycles time) {
  const auto sectors = static_cast<uint32_t>(std::popcount(l.sectors));
  const size_t unit = unit_of(l.line);
  const Cycles start = std::max(time, free_[unit]);
  free_[unit] = start + (l.words == ~0U && l.alike == 1 ? p_.l2_atomic_full_interval
                                                        : p_.l2_atomic_interval * (sectors + l.alike - 1));
  return {start, queue(sm * free_.size() + unit, l, start)};
}

}  // namespace palladion::sim::hardware
