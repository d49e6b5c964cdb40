#pragma once
// Whether the result of one run holds for all schedules.
#include <optional>
#include <string>
#include <vector>

#include "sim/check/checker.h"
#include "sim/explore/forced.h"
#include "sim/explore/recorder.h"

namespace palladion::sim::check {

// What holds in the schedules for which a run decides, beyond what PTX promises.
struct Assumptions {
  bool warps_together = false;  // lanes of a warp that return from one wait go on together
  bool answers = false;         // requests to cancel launches get the answers that they got in the run
  bool none() const { return !warps_together && !answers; }
};

struct RunDecision {
  bool decided = false;
  std::string reason;                // why not
  std::optional<Assumptions> under;  // null: it does not decide under assumptions either
};

// True when the phases of every cluster are forced (docs/concepts/all_schedules.md), nothing that was
// recorded depended on time, and the checkers left nothing out.
RunDecision decide_run(const std::vector<SkeletonObserver::Recorded>& recorded, const Coverage& coverage);

// "`mbarrier.arrive...` of warp 4 (line 41): the arrival can come before phase 3 has been observed"
std::string unforced_text(const Skeleton& skeleton, const ForcedVerdict& verdict);

}  // namespace palladion::sim::check
