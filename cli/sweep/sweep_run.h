// `palladion sweep`: every combination of a kernel's settings under the hardware schedule, ranked by time.
#pragma once

#include <string>
#include <vector>

#include "cli/runs/run_request.h"
#include "report/run/sweep_text.h"
#include "verify/sweep/sweep.h"

namespace palladion::cli {

struct SweepRequest {
  SubjectRequest subject;          // without the settings that are combined
  std::vector<verify::Axis> axes;  // in the order given
  ClockSettings clock;
  unsigned threads = 1;
  uint64_t max_instructions = usual_max_instructions;    // of a warp
  size_t top = 20;                                       // configurations reported; 0: all
  verify::Codegen codegen = verify::Codegen::automatic;  // whose findings rank a configuration last
  std::string state;                                     // a file that keeps what is done; empty: none
  bool resumes = false;                                  // the file must exist
  OutputRequest output;
};

struct SweepRun {
  Swept swept;
  verify::SweepReport report;
};

// Checks the words, then runs; returns the user's error.
Outcome<SweepRun> run_sweep(const SweepRequest& request);
ExitCode exit_code_of(const verify::SweepReport& report);

}  // namespace palladion::cli
