#pragma once
// Requests of a GPC's SMs for the same sectors of a line, which are one for L2.
#include <bit>
#include <cstddef>
#include <cstdint>

#include "isa/arch/clock.h"
#include "sim/clock/memory/lines.h"
#include "sim/clock/memory/zeroed.h"

namespace palladion::sim::hardware {

struct Merge {
  uint64_t line = never;
  Cycles until = 0, answered = 0;  // it takes others; its data is in L2
  uint32_t sms = 0;                // that take part, a bit each
  uint8_t sectors = 0;
};

class Merges {
 public:
  Merges(const isa::ClockParameters& parameters, size_t gpcs) : p_(parameters), open_(gpcs * a_gpc) {}

  // Where a GPC's request for the line is or would be kept.
  Merge& of(uint32_t gpc, uint64_t line) { return open_[place(gpc, line)]; }
  // Whether a request at `time` of the SM with `bit` becomes part of it: no SM takes part twice.
  bool takes(const Merge& m, const LineAccess& l, uint32_t bit, Cycles time) const {
    return m.line == l.line && time < m.until && (m.sms & bit) == 0 && (l.sectors & ~m.sectors) == 0 &&
           std::popcount(m.sms) < p_.l2_merged;
  }
  // The host's caches: `of` is about to be called.
  void prefetch(uint32_t gpc, uint64_t line) const { __builtin_prefetch(&open_[place(gpc, line)]); }

 private:
  // Many times what is on its way to a GPC at once: a line that takes another's place ends its request.
  static constexpr size_t a_gpc = 16384;
  static size_t place(uint32_t gpc, uint64_t line) { return gpc * a_gpc + spread(line, a_gpc); }

  const isa::ClockParameters& p_;
  Zeroed<Merge> open_;  // which have ended at cycle 0
};

}  // namespace palladion::sim::hardware
