#include "verify/verdict/findings.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "sim/check/core/merge.h"

namespace palladion::verify {
namespace {

using Severity = sim::FindingSeverity;

// Errors first, then what the checker cannot decide.
size_t rank_of(Severity severity) {
  constexpr std::array order{Severity::error, Severity::unknown, Severity::strict, Severity::unsupported};
  return static_cast<size_t>(std::ranges::find(order, severity) - order.begin());
}

}  // namespace

void merge_findings(std::vector<SeenFinding>& into, const std::vector<sim::Finding>& findings,
                    const std::string& schedule, const std::string& replay) {
  std::vector<sim::Finding> all;
  for (const SeenFinding& s : into) all.push_back(s.finding);
  all.insert(all.end(), findings.begin(), findings.end());
  std::vector<uint64_t> counts;
  for (const sim::Finding& f : all) counts.push_back(f.count);
  std::vector<size_t> part_of;
  std::vector<sim::Finding> merged = sim::check::merge(std::move(all), &part_of);
  std::vector<SeenFinding> out(merged.size());
  for (size_t i = 0; i < part_of.size(); ++i) {
    SeenFinding& s = out[part_of[i]];
    const bool is_known = i < into.size(), is_first = s.schedules.empty();
    if (is_first) s = {std::move(merged[part_of[i]]), {}, is_known ? into[i].replay : replay, {}};
    if (is_first) s.finding.count = 0;
    const std::vector<std::string> shown_by = is_known ? into[i].schedules : std::vector{schedule};
    if (is_first || s.schedules.front() == shown_by.front()) s.finding.count += counts[i];
    for (const std::string& name : shown_by)
      if (std::ranges::find(s.schedules, name) == s.schedules.end()) s.schedules.push_back(name);
  }
  into = std::move(out);
}

void sort_findings(std::vector<SeenFinding>& findings) {
  std::ranges::stable_sort(findings, {}, [](const SeenFinding& s) {
    return std::tuple(sim::check::is_remark(s.finding), rank_of(s.finding.severity),
                      -ptrdiff_t(s.schedules.size()));
  });
}

FindingCounts count_findings(std::span<const SeenFinding> findings) {
  FindingCounts counts;
  for (const SeenFinding& s : findings) {
    size_t* const of[] = {&counts.errors, &counts.unknown, &counts.strict, &counts.unsupported};
    ++*(s.is_suppressed() ? &counts.suppressed : of[rank_of(s.finding.severity)]);
  }
  return counts;
}

}  // namespace palladion::verify
