#pragma once
// A launch that is under way, from one boundary of its schedule to the next (sim/schedule/grid.h).
#include <cstdint>
#include <memory>

#include "sim/launch/launch.h"

namespace palladion::sim {

struct RunParts;
struct Snapshot;

class Run {
 public:
  // The launch is refused: `refused.errors` says why.
  explicit Run(RunResult refused);
  // What is known of the result before the first instruction is in `result`.
  Run(RunParts parts, RunResult result);
  ~Run();
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;

  // To the next boundary; false when the run is over.
  bool advance();
  // The same, in schedules without a clock; but where nothing can proceed and lanes spin on memory, the run
  // has not ended: `waits`. It goes on when something outside has changed GMEM; `advance` ends it as a
  // deadlock.
  enum class Step : uint8_t { on, waits, over };
  Step step();
  // Changes with whatever another launch, or the host, could see; not with barriers and shared memory.
  uint64_t outside_changes() const;
  // Boundaries that it has passed: where it stands.
  uint64_t position() const;
  // snapshot.h. `restore` takes a snapshot of this run; a refused launch has none. What observers know is
  // made of all events since the launch: with one attached, a run goes back to its launch alone (position 0),
  // where the observer starts anew, and from there to any position, because a run repeats exactly. Else it
  // throws std::logic_error.
  Snapshot snapshot() const;
  void restore(const Snapshot& snapshot);

  // So far, and when the run is over all of it.
  const RunResult& result() const;
  RunResult take_result();

 private:
  struct Held;
  std::unique_ptr<Held> held_;  // null: refused
  RunResult refused_;
};

}  // namespace palladion::sim
