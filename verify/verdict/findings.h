#pragma once
// The findings of one or several runs of a launch, merged and counted.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/launch/finding.h"

namespace palladion::verify {

// A finding as it was first seen, with all schedules that showed it.
struct SeenFinding {
  sim::Finding finding;
  std::vector<std::string> schedules;
  std::string replay;      // the command that reproduces it; empty: the current one
  std::string suppressed;  // the reason that the user gave; empty: it counts
  bool is_suppressed() const { return !suppressed.empty(); }
};

// In place of a schedule's name, for findings of the search over all schedules.
inline constexpr std::string_view exploration = "exploration";

// The same for findings of the code that ptxas makes, which no run shows.
inline constexpr std::string_view code_generation = "code generation";

// Adds one run's findings. A known mistake gains the schedule; its count is that of the first one.
void merge_findings(std::vector<SeenFinding>& into, const std::vector<sim::Finding>& findings,
                    const std::string& schedule, const std::string& replay = {});
// Errors first, then unknown, strict, unsupported; findings of every schedule before findings of few, which
// often are their consequence; otherwise in the order in which they were seen.
void sort_findings(std::vector<SeenFinding>& findings);

struct FindingCounts {
  size_t errors = 0, strict = 0, unknown = 0, unsupported = 0, suppressed = 0;
  size_t reported() const { return errors + strict + unknown + unsupported; }
};
FindingCounts count_findings(std::span<const SeenFinding> findings);

}  // namespace palladion::verify
