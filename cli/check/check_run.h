// `palladion check`: one subject under several schedules (verify/check.h), reported as one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/execute/execute.h"
#include "verify/check.h"

namespace palladion::cli {

// `run`, under several schedules.
struct CheckRequest {
  RunRequest run;
  std::optional<unsigned> seeds;    // random schedules
  std::optional<uint64_t> explore;  // states to search at most
};

struct CheckReport : verify::CheckReport {
  std::vector<NamedComparison> comparisons;  // of `reference`, with their error maps
  std::string unused_suppressions;
  ExitCode exit_code = exit_clean;
  std::shared_ptr<PageRecording> page;  // --report: of the first trial
};

// Runs, and prints a line for each trial; the user's error when nothing could run at all.
Outcome<CheckReport> run_check(const Subject& subject, const CheckRequest& request);

void print_check(const Subject& subject, const CheckRequest& request, const CheckReport& report);
std::string check_json_of(const Subject& subject, const CheckRequest& request, const CheckReport& report);

}  // namespace palladion::cli
