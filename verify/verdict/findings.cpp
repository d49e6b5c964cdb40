#include "verify/verdict/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace palladion::verify {
namespace {

using Severity = sim::FindingSeverity;

// Errors first, then what the checker cannot decide.
size_t rank_of(Severity severity) {
  constexpr std::array order{Severity::error, Severity::unknown, Severity::strict, Severity::unsupported};
  return static_cast<size_t>(std::ranges::find(order, severity) - order.begin());
}

bool same_place(const sim::Site& a, const sim::Site& b) {
  return a.ptx_line == b.ptx_line && a.instruction == b.instruction && a.source.file == b.source.file &&
         a.source.line == b.source.line;
}

// One of the races that `a` was made of is the first of those that `b` was made of.
bool stands_for(const sim::Finding& a, const sim::Finding& b) {
  if (a.alike.empty() || a.sites.size() != b.sites.size()) return false;
  return std::ranges::find(a.alike, std::array{b.sites[0].ptx_line, b.sites[1].ptx_line}) != a.alike.end();
}

}  // namespace

std::string_view word(Severity severity) {
  constexpr std::string_view words[] = {"error", "strict", "unknown", "unsupported"};
  return words[static_cast<size_t>(severity)];
}

bool is_wait_graph(const sim::Finding& f) {
  return f.fatal && !f.sites.empty() && f.notes.size() >= f.sites.size();
}

std::string place_of(const sim::Site& site, std::string_view ptx_name) {
  if (site.source.known()) return fmt::format("{}:{}", site.source.file, site.source.line);
  if (site.ptx_line == 0) return {};
  return ptx_name.empty() ? fmt::format("PTX line {}", site.ptx_line)
                          : fmt::format("{}:{}", ptx_name, site.ptx_line);
}

std::string_view object_name(std::string_view object) {
  const size_t open = object.find('`');
  const size_t close = open == std::string_view::npos ? open : object.find('`', open + 1);
  return close == std::string_view::npos ? std::string_view() : object.substr(open + 1, close - open - 1);
}

bool same_mistake(const sim::Finding& a, const sim::Finding& b) {
  if (a.code != b.code || a.severity != b.severity || object_name(a.object) != object_name(b.object))
    return false;
  // Without checkers there is no object; the message identifies the mistake.
  if (a.object.empty() && a.missing.empty() && !is_wait_graph(a) && a.message != b.message) return false;
  // Which other threads wait depends on the schedule.
  if (is_wait_graph(a) && is_wait_graph(b)) return same_place(a.sites.front(), b.sites.front());
  return std::ranges::equal(a.sites, b.sites, same_place) || stands_for(a, b) || stands_for(b, a);
}

void merge_findings(std::vector<SeenFinding>& into, const std::vector<sim::Finding>& findings,
                    const std::string& schedule, const std::string& replay) {
  for (const sim::Finding& f : findings) {
    const auto at =
        std::ranges::find_if(into, [&](const SeenFinding& s) { return same_mistake(s.finding, f); });
    if (at == into.end()) {
      into.push_back({f, {schedule}, replay, {}});
      continue;
    }
    add_reads(at->finding, f);
    at->finding.alike.insert(at->finding.alike.end(), f.alike.begin(), f.alike.end());
    if (at->schedules.back() != schedule) {
      at->schedules.push_back(schedule);
    } else if (at->schedules.size() == 1) {
      at->finding.count += f.count;
    }
  }
}

void sort_findings(std::vector<SeenFinding>& findings) {
  std::ranges::stable_sort(findings, {}, [](const SeenFinding& s) {
    return std::pair(rank_of(s.finding.severity), -ptrdiff_t(s.schedules.size()));
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
