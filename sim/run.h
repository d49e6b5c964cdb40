#pragma once
// A launch that is under way, from one boundary of its schedule to the next (sim/schedule/grid.h).
#include <memory>
#include <vector>

#include "isa/arch/arch.h"
#include "sim/launch/launch.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

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
  // So far, and when the run is over all of it.
  const RunResult& result() const;
  RunResult take_result();

 private:
  struct Held;
  std::unique_ptr<Held> held_;  // null: refused
  RunResult refused_;
};

}  // namespace palladion::sim
