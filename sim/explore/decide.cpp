#include "sim/explore/decide.h"

#include <fmt/format.h>

#include "sim/explore/problem_finding.h"

namespace palladion::sim::check {
namespace {

RunDecision decide_skeleton(const Skeleton& skeleton) {
  if (!skeleton.incomplete.empty()) return {.reason = skeleton.incomplete};
  if (skeleton.frozen.size() > skeleton.answers) return {.reason = skeleton.frozen.front()};
  const bool answers = skeleton.answers != 0;
  const ForcedVerdict verdict = decide_forced(skeleton);
  if (verdict.forced)
    return {.decided = !answers,
            .reason = answers ? skeleton.frozen.front() : "",
            .under = Assumptions{.warps_together = false, .answers = answers}};
  RunDecision out{.reason = unforced_text(skeleton, verdict)};
  if (skeleton.together.empty()) return out;
  const ForcedVerdict together = decide_forced(skeleton.with_warps_together());
  if (together.forced && !together.deadlocks)
    out.under = Assumptions{.warps_together = true, .answers = answers};
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
  RunDecision all{.decided = true, .under = Assumptions{}};
  for (const SkeletonObserver::Recorded& r : recorded) {
    RunDecision one = decide_skeleton(r.skeleton);
    if (!one.under || (all.decided && !one.decided)) all.reason = std::move(one.reason);
    all.decided &= one.decided;
    if (!one.under) {
      all.under.reset();
      break;
    }
    all.under->warps_together |= one.under->warps_together;
    all.under->answers |= one.under->answers;
  }
  return all;
}

}  // namespace palladion::sim::check
