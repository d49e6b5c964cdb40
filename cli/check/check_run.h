// `palladion check`: one subject under several schedules (verify/check.h), reported as one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/execute/execute.h"
#include "verify/check.h"

namespace palladion::cli {

struct CheckReport : verify::CheckReport {
  std::vector<NamedComparison> comparisons;  // of `reference`, with their error maps
  std::string unused_suppressions;
  ExitCode exit_code = exit_clean;
  std::shared_ptr<PageRecording> page;  // --report: of the first trial
};

// Runs, and prints a line for each trial; the user's error when nothing could run at all.
Outcome<CheckReport> run_check(const Subject& subject, const Options& options);

void print_check(const Subject& subject, const Options& options, const CheckReport& report);
std::string check_json(const Subject& subject, const Options& options, const CheckReport& report);

}  // namespace palladion::cli
