#pragma once
// Schedules without a clock: every resident cluster runs for a quantum of instructions.
#include <optional>

#include "sim/schedule/deadlock_spin.h"
#include "sim/schedule/grid.h"

namespace palladion::sim {

class Quanta final : public Advance {
 public:
  explicit Quanta(const RunOptions& options);

  void admit(Grid& grid) override;
  void run(Grid& grid) override;
  void retire(Grid& grid) override;
  bool stuck(Grid& grid) override;
  void memory_changed() override;
  std::unique_ptr<Advance> clone() const override { return std::make_unique<Quanta>(*this); }

 private:
  // What the clusters executed between two boundaries.
  struct Passed {
    size_t resident = 0;                       // clusters that ran
    bool useful = false;                       // something other than polling was executed
    bool performed = false;                    // an access of GMEM at the boundary
    bool executed = false, cut_short = false;  // any instruction; as many as the budget
    bool repeats = false;                      // all clusters wait, or return to states that they had
  };

  uint64_t quantum_;  // of a cluster; no more than the run may execute
  uint64_t budget_;   // of a cluster, in the next quantum
  Passed passed_;     // in the last one
  SpinDetector spins_;
  ReturnDetector returns_;
  std::optional<StateHash> hash_;
  uint64_t last_progress_ = ~0ULL, last_outside_ = ~0ULL;
  uint32_t quiet_ = 0;  // boundaries in a row without a change
};

}  // namespace palladion::sim
