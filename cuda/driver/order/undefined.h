#pragma once
// Operations whose results depend on device memory that nothing has written: PLD7007 and PLD7008. The lock of
// the state is held.
#include <functional>
#include <string>

#include "cuda/driver/order/changes.h"
#include "cuda/order/in_flight.h"
#include "sim/launch/launch.h"

namespace palladion::cuda::driver {

using Again = std::function<sim::RunResult(sim::Observer&)>;  // runs a launch once more

// A launch that is over.
struct Launched {
  const order::Operation& as;
  const std::string& kernel;  // its symbol
  UnwrittenReads& reads;
  Changes& changes;
  const sim::RunResult& result;
  Again again;  // empty: it cannot be repeated
};

// Runs the launch again with other bytes where it read bytes that nothing had written. Bytes of device memory
// that are different then were computed from such bytes, and count as unwritten. The memory is left as it is.
void judge_reads(const Launched& launch);
// A launch was refused, so that its kernel has written nothing: findings say so.
void note_refused(const std::string& kernel, const std::string& error);
void judge_copied(const order::Operation& copy, const order::Touched& touched);

}  // namespace palladion::cuda::driver
