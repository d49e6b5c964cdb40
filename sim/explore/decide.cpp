#include "sim/explore/decide.h"

#include <fmt/format.h>

#include "sim/explore/problem_finding.h"

namespace palladion::sim::check {
namespace {

std::string why_not(const Skeleton& skeleton) {
  if (!skeleton.incomplete.empty()) return skeleton.incomplete;
  if (!skeleton.frozen.empty()) return skeleton.frozen.front();
  const ForcedVerdict verdict = decide_forced(skeleton);
  return verdict.forced ? std::string() : unforced_text(skeleton, verdict);
}

}  // namespace

std::string unforced_text(const Skeleton& skeleton, const ForcedVerdict& v) {
  const Site site = site_of(skeleton, v.op, {});
  return fmt::format("`{}` of warp {} (line {}): {}", site.instruction, site.warp, line_of(site),
                     describe(v.reason));
}

RunDecision decide_run(const std::vector<SkeletonObserver::Recorded>& recorded, const Coverage& coverage) {
  if (!coverage.incomplete.empty()) return {false, coverage.incomplete.front()};
  if (coverage.timing_dependent_control) return {false, "values that depend on timing are read"};
  if (recorded.empty()) return {false, "nothing was recorded"};
  for (const SkeletonObserver::Recorded& r : recorded)
    if (std::string why = why_not(r.skeleton); !why.empty()) return {false, std::move(why)};
  return {true, {}};
}

}  // namespace palladion::sim::check
