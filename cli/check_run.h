// `palladion check`: the same thing under several schedules, told as one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace palladion::cli {

// One schedule.
struct Trial {
  std::string schedule;
  kernels::SimOutcome outcome;  // outputs are kept of the first trial that reached its end, else hashes alone
  std::optional<Watched> watched;
  std::vector<std::string> output_hashes;
  bool same_outputs = true;  // as the first trial's that reached its end

  bool decides() const;  // it speaks for all schedules
};

struct CheckReport {
  std::vector<Trial> trials;
  std::vector<SeenFinding> findings;  // of all trials
  // Against the kernel's reference: of the first trial, and of those whose outputs are other ones.
  std::vector<std::pair<std::string, NamedComparison>> reference;
  std::string unused_suppressions;
  bool decided = false;        // one run spoke for all schedules
  bool seeds_skipped = false;  // because of that
  bool races_checked = false;
  Verdict verdict;
  ExitCode exit_code = exit_clean;
};

// Runs; the answer is what the user did wrong, when nothing could run at all.
Outcome<CheckReport> run_check(Subject& subject, const Options& options);

void print_check(const Subject& subject, const Options& options, const CheckReport& report);
std::string check_json(const Subject& subject, const Options& options, const CheckReport& report);

}  // namespace palladion::cli
