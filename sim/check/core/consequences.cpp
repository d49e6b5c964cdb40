#include "sim/check/core/consequences.h"

#include <algorithm>
#include <utility>

#include "sim/check/catalogue/code.h"

namespace palladion::sim::check {
namespace {

bool covers(const std::vector<Range>& all, const std::vector<Range>& some) {
  return std::ranges::all_of(some, [&](const Range& s) {
    return std::ranges::any_of(all, [&](const Range& a) { return a.from <= s.from && s.to <= a.to; });
  });
}

bool covers(const Object& race, const Object& read) {
  if (race.kind != read.kind || (!read.ranges.empty() && !covers(race.ranges, read.ranges))) return false;
  return std::ranges::all_of(read.names, [&](const Named& n) {
    return std::ranges::any_of(race.names, [&](const Named& r) {
      const bool all = r.bytes.empty(), some = !n.bytes.empty() && covers(r.bytes, n.bytes);
      return r.name == n.name && r.index == n.index && (all || some);
    });
  });
}

bool explains(const Finding& race, const Finding& read) {
  if (!std::holds_alternative<Race>(race.what) || race.fatal || race.severity > read.severity) return false;
  const SourcePlace at = place_of(read.sites.front());
  const bool there = std::ranges::any_of(race.sites, [&](const Site& s) { return place_of(s) == at; }) ||
                     std::ranges::any_of(race.also, [&](const SourcePlaces& places) {
                       return std::ranges::find(places, at) != places.end();
                     });
  return there && covers(race.object, read.object);
}

}  // namespace

void drop_consequences(std::vector<Finding>& findings, std::vector<size_t>* part_of) {
  std::vector<size_t> cause(findings.size());
  for (size_t i = 0; i < findings.size(); ++i) {
    cause[i] = i;
    const Finding& read = findings[i];
    if (read.code != Code::uninitialised_shared_memory || read.fatal || read.sites.size() != 1) continue;
    const auto race = std::ranges::find_if(findings, [&](const Finding& f) { return explains(f, read); });
    if (race == findings.end()) continue;
    cause[i] = static_cast<size_t>(race - findings.begin());
    if (std::ranges::find(race->notes, read.message) == race->notes.end())
      race->notes.push_back(read.message);
  }
  std::vector<size_t> now(findings.size());
  std::vector<Finding> kept;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (cause[i] != i) continue;
    now[i] = kept.size();
    kept.push_back(std::move(findings[i]));
  }
  if (part_of != nullptr)
    for (size_t& part : *part_of) part = now[cause[part]];
  findings = std::move(kept);
}

}  // namespace palladion::sim::check
