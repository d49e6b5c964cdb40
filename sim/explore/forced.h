#pragma once
// Forced phases: one run is enough to know all schedules. The definitions and the proof:
// docs/concepts/all_schedules.md.
#include <string>

#include "sim/explore/explore.h"

namespace palladion::sim::check {

enum class Unforced : uint8_t {
  nothing,         // the phases are forced
  fails,           // an operation fails in the analysed run
  early_arrival,   // F1: `op` is not ordered after the completion of the phase before its own
  loose_expect,    // F1: the phase can complete without the expect_tx `op`
  surplus_bytes,   // F1: more bytes were delivered than announced, or a count leaves its range
  early_wait,      // F2: `op` may return for an earlier phase of the same parity
  missed_wait,     // F2: the phase after the one that `op` awaits can complete before `op` is executed
  recycled_early,  // an arrival at a CTA or cluster barrier is not ordered after the last generation
  reset,           // an init or inval is not ordered with the other uses
  registers,       // increases compete for the pool
};

struct ForcedVerdict {
  bool forced = false;
  bool deadlocks = false;  // of the analysed run; when forced, of every run
  Unforced reason = Unforced::nothing;
  OpRef op;
  uint32_t phase = 0;  // that `op` met in this run
  uint64_t steps = 0;
};

// Executes the skeleton once, in some schedule, and decides.
ForcedVerdict decide_forced(const Skeleton& skeleton);

// "the arrival can come before phase 3 has been observed": completes "not forced: ..."
std::string describe(Unforced reason);

}  // namespace palladion::sim::check
