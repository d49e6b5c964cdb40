#pragma once
// Runs with other numbers of resident CTAs and other start orders: what it means that some of them hang.
#include <functional>
#include <span>
#include <vector>

#include "sim/explore/conditions.h"

namespace palladion::sim::check {

struct ResidencyRun {
  Conditions conditions;
  RunResult* result = nullptr;
};

// What the launch is, and what the usual run (ascending, as many as there is room for) found.
struct ResidencyLaunch {
  uint64_t clusters = 0, room = 0, ctas_per_cluster = 1;
  bool completed = false;
  // Runs again with the resident clusters given, without checkers: does it end?
  std::function<bool(uint64_t resident)> ends_with;
};

// `runs` have one number of resident clusters and differ in their order. Where some clusters had not yet
// started when the run was deadlocked, the deadlock's finding becomes a strict one: PLD4905, so many CTAs
// must run at once, when they hang in every order; PLD4906, an order is assumed, when they do not. Nothing is
// changed when the usual run hangs as well.
void judge_residency(std::span<const ResidencyRun> runs, const ResidencyLaunch& launch);

}  // namespace palladion::sim::check
