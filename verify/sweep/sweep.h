// `palladion sweep`: every combination of a kernel's settings under the hardware schedule, ranked by time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "verify/sweep/axes.h"
#include "cli/runs/run_request.h"
#include "verify/sweep/state.h"
#include "kernels/frame/registry.h"

namespace palladion::cli {

struct SweepRequest {
  SubjectRequest subject;  // without the settings that are combined
  std::vector<Axis> axes;  // in the order given
  ClockSettings clock;
  unsigned threads = 1;
  uint64_t max_instructions = usual_max_instructions;  // of a warp
  size_t top = 20;                                     // configurations reported; 0: all
  std::string state;                                   // a file that keeps what is done; empty: none
  bool resumes = false;                                // the file must exist
};

struct SweepReport {
  const kernels::KernelSpec* spec = nullptr;
  kernels::Choice fixed;  // sizes, and settings that are not combined
  std::vector<Axis> axes;
  ClockSettings clock;
  std::vector<Timed> all;  // in the order of the combinations
  size_t taken_over = 0;   // of an earlier sweep
  bool interrupted = false;
  double seconds = 0;
  unsigned threads = 1;
  std::vector<std::string> notes;

  // Indices into `all`: those with a time, the fastest first; of equal ones the first combination.
  std::vector<size_t> ranking() const;
  // Those that are invalid, or did not end.
  std::vector<size_t> without_time() const;
  ExitCode exit_code() const;
};

// Checks the words, then runs; returns the user's error.
Outcome<SweepReport> run_sweep(const SweepRequest& request);

std::string sweep_text(const SweepReport& report, const SweepRequest& request, bool color);
std::string sweep_json(const SweepReport& report);

}  // namespace palladion::cli
