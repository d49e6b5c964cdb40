// A check under many schedules, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "report/run/launched.h"
#include "report/run/run_text.h"
#include "verify/check.h"

namespace palladion::report {

struct CheckView {
  FindingView findings;             // they go where errors go
  std::string unused_suppressions;  // a warning a line
  bool color = false;               // of what is no finding
};
std::vector<Part> check_text(const Launched& launched, const verify::CheckReport& report,
                             const CheckView& view);

// What was asked for, beside the launch.
struct Checked {
  uint64_t seed = 0;
  uint64_t explore = 0;  // states to search at most
  unsigned threads = 1;
  int exit_code = 0;
};
std::string check_json(const Launched& launched, const verify::CheckReport& report, const Checked& checked);

}  // namespace palladion::report
