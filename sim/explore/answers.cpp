#include "sim/explore/answers.h"

#include <algorithm>

#include <fmt/format.h>

namespace palladion::sim::check {

Conditions conditions_of(const Answers& answers) {
  using Kind = StartOrder::Kind;
  return {.schedule = {},
          .resident = 1,
          .order = {answers.descending ? Kind::descending : Kind::ascending, 0},
          .cancels = answers.cancels};
}

std::vector<Answers> all_answers(uint32_t clusters) {
  std::vector<Answers> out = {{.cancels = 0}};
  if (clusters <= 1) return out;
  // One cluster does the work of all; then the largest shares and what they leave.
  out.push_back({.cancels = clusters - 1});
  out.push_back({.cancels = clusters - 1, .descending = true});
  for (uint32_t cancels = clusters - 2; cancels > 0 && cancels + 2 > clusters / 2; --cancels)
    out.push_back({.cancels = cancels, .descending = cancels % 2 != 0});
  return out;
}

void AnswerProof::add(const WorkScope& run) {
  if (obstacle_.empty()) obstacle_ = run.obstacle;
  if (obstacle_.empty() && run.work.size() != clusters_) obstacle_ = "some cluster's work was not done";
  lengths_.insert(run.lengths.begin(), run.lengths.end());
  for (const auto& [number, work] : run.work) {
    places_[number].insert(work.places);
    ways_[work.ways].insert(number);
    facts_[number].insert(work.facts.begin(), work.facts.end());
  }
}

std::string AnswerProof::missing() const {
  if (!obstacle_.empty()) return obstacle_;
  for (uint64_t n = 1; n <= clusters_; ++n)
    if (!lengths_.contains(n)) return fmt::format("no cluster did the work of {}", n);
  if (std::ranges::any_of(places_, [](const auto& p) { return p.second.size() != 1; }))
    return "who does a cluster's work decides which bytes of GMEM it writes";
  if (std::ranges::any_of(facts_, [&](const auto& f) { return f.second != facts_.begin()->second; }))
    return "what a cluster does depends on whose work it is";
  if (std::ranges::any_of(ways_, [&](const auto& w) { return w.second.size() != clusters_; }))
    return "how it finds the bytes that it writes depends on whose work it is";
  return {};
}

}  // namespace palladion::sim::check
