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

std::string_view word(sim::FindingSeverity severity);  // "error"

// True when notes[i] says what sites[i] waits for.
bool is_wait_graph(const sim::Finding& finding);

// "gemm.cpp:41"; without a source, the line of the PTX, in `ptx_name` when that is known.
std::string place_of(const sim::Site& site, std::string_view ptx_name = {});

// "a" of "`a`[1] bytes [0, 128) of CTA (3,0,0)", empty without a name: which slot of which CTA is found first
// is arbitrary.
std::string_view object_name(std::string_view object);

// Two findings report the same mistake: code, object and places are equal. What differs between CTAs,
// lanes, iterations and schedules does not count. Of a race that stands for several, one of them is enough.
bool same_mistake(const sim::Finding& a, const sim::Finding& b);

// Adds one run's findings. A known finding gains the schedule; within one run it gains counts.
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
