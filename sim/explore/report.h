#pragma once
// The report on a recorded run: what other schedules would do.
#include <string>
#include <vector>

#include "sim/explore/explore.h"
#include "sim/explore/recorder.h"
#include "sim/launch/finding.h"

namespace palladion::sim::check {

struct ExploreReport {
  std::vector<Finding> findings;
  bool all_schedules = false;                        // every schedule of every cluster is known
  bool frozen = false;                               // ... of the skeletons; what they froze is in `coverage`
  uint64_t clusters = 0, skeletons = 0, forced = 0;  // forced: skeletons that one run decides
  uint64_t states = 0, classes = 0;                  // of the others
  std::string verdict;   // "all schedules", "incomplete: budget of 1000000 states; 312 classes explored"
  std::string coverage;  // a line: operations, how they were decided, what was frozen
};

// `budget` of the options is for all skeletons together. The report is the same for any number of host
// threads.
ExploreReport explore_run(const std::vector<SkeletonObserver::Recorded>& recorded,
                          const ExploreOptions& options = {.budget_after_problem = 20'000},
                          unsigned threads = 1);

}  // namespace palladion::sim::check
