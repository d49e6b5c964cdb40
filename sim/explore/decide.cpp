#include "sim/explore/decide.h"

#include <fmt/format.h>

#include "sim/explore/problem_finding.h"

namespace palladion::sim::check {
namespace {

RunDecision decide_skeleton(const Skeleton& skeleton) {
  if (!skeleton.incomplete.empty()) return {.reason = skeleton.incomplete};
  if (!skeleton.frozen.empty()) return {.reason = skeleton.frozen.front()};
  const ForcedVerdict verdict = decide_forced(skeleton);
  if (verdict.forced) return {.decided = true, .warps_together = true};
  RunDecision out{.reason = unforced_text(skeleton, verdict)};
  if (skeleton.together.empty()) return out;
  const ForcedVerdict together = decide_forced(skeleton.with_warps_together());
  out.warps_together = together.forced && !together.deadlocks;
  return out;
}

}  // namespace

std::string unforced_text(const Skeleton& skeleton, const ForcedVerdict& v) {
  const Site site = site_of(skeleton, v.op, {});
  return fmt::format("`{}` of warp {} (line {}): {}", site.instruction, site.warp, line_of(site),
                     describe(v.reason));
}

RunDecision decide_run(const std::vector<SkeletonObserver::Recorded>& recorded, const Coverage& coverage) {
  if (!coverage.incomplete.empty()) return {.reason = coverage.incomplete.front()};
  if (coverage.timing_dependent_control) return {.reason = "values that depend on timing are read"};
  if (recorded.empty()) return {.reason = "nothing was recorded"};
  RunDecision all{.decided = true, .warps_together = true};
  for (const SkeletonObserver::Recorded& r : recorded) {
    RunDecision one = decide_skeleton(r.skeleton);
    if (all.decided && !one.decided) all.reason = std::move(one.reason);
    all.decided &= one.decided;
    all.warps_together &= one.warps_together;
    if (!all.warps_together) break;
  }
  return all;
}

}  // namespace palladion::sim::check
