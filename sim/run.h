#pragma once
// A launch that is under way, from one boundary of its schedule to the next (sim/schedule/grid.h).
#include <memory>
#include <vector>

#include "isa/arch/arch.h"
#include "sim/launch/launch.h"
#include "sim/machine/exec/exec.h"
#include "sim/schedule/grid.h"

namespace palladion::sim {

// A run as it stands at a boundary: a value. Observers are not part of it.
struct Snapshot {
  GridState grid;
  std::shared_ptr<const Advance> schedule;
  MemoryImage memory;
  uint64_t position() const { return grid.boundaries; }
};

class Run {
 public:
  struct Parts {
    const isa::ArchSpec* arch = nullptr;
    const isa::ClockParameters* clock = nullptr;  // null: a schedule without one
    GlobalMemory* memory = nullptr;
    std::unique_ptr<Program> program;
    LaunchState launch;
    std::vector<Address> written;  // see Launch
    RunOptions options;
  };

  // The launch is refused: `refused.errors` says why.
  explicit Run(RunResult refused);
  // What is known of the result before the first instruction is in `result`.
  Run(Parts parts, RunResult result);
  ~Run();
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;

  // To the next boundary; false when the run is over.
  bool advance();
  // Boundaries that it has passed: where it stands.
  uint64_t position() const;
  // `restore` takes a snapshot of this run; a refused launch has none. What observers know is made of all
  // events since the launch: with one attached, a run goes back to its launch alone (position 0), where the
  // observer starts anew, and from there to any position, because a run repeats exactly. Else it throws
  // std::logic_error.
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
