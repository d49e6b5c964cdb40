#pragma once
// A launch under other schedules than the one whose results the program gets.
#include <optional>
#include <string>

#include "cuda/driver/judged.h"
#include "sim/check/checker.h"
#include "sim/explore/recorder.h"
#include "sim/machine.h"

namespace palladion::cuda::driver {

// What `--schedules` asks for. All: as `palladion check` does.
struct SchedulesAsked {
  bool all = false;
  size_t number = 1;
  bool several() const { return all || number > 1; }
};
SchedulesAsked schedules_asked(const std::string& text);

class OtherSchedules {
 public:
  // Of a launch that has not begun, on a machine that stays as it is until the launch begins. Without
  // checkers nothing is recorded, and outputs are compared alone.
  OtherSchedules(const SchedulesAsked& asked, const sim::check::Options& checks);

  // For the launch's own run; null: none.
  sim::Observer* recorder() { return checks_.any() ? &recorder_ : nullptr; }
  // Keeps the memory that the launch finds, before its first instruction; `forget`: other schedules cannot be
  // tried.
  void begin(sim::Machine& machine);
  void forget() { before_.reset(); }
  // After the launch's own run. The memory stays as that has left it. `coverage`: of its checkers.
  Judged judge(sim::Machine& machine, const sim::Launch& launch, const sim::RunOptions& options,
               const sim::check::Coverage* coverage);

 private:
  void try_schedules(sim::Machine& machine, const sim::Launch& launch, const sim::RunOptions& options,
                     const sim::MemoryImage& after, Judged& judged) const;
  void search(const std::string& entry, Judged& judged) const;

  SchedulesAsked asked_;
  sim::check::Options checks_;
  sim::check::SkeletonObserver recorder_;
  std::optional<sim::MemoryImage> before_;
};

}  // namespace palladion::cuda::driver
