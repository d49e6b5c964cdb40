#pragma once
// Which conditions are tried, and their trials side by side on the host's threads.
#include <functional>
#include <span>
#include <vector>

#include "verify/schedules/trial.h"

namespace palladion::verify {

// Functional, latest, earliest: one run of them often decides for all schedules.
std::vector<sim::check::Conditions> adverse_conditions();
std::vector<sim::check::Conditions> random_conditions(uint64_t first_seed, unsigned number);

// False: no further trial is wanted.
using TakeTrial = std::function<bool(Trial)>;
// Observers of the first trial alone.
struct FirstTrial {
  sim::check::SkeletonObserver* recorder = nullptr;
  std::span<sim::Observer* const> more = {};
};
// Begins the trials in their order, `together` of them at once at most and no more than the run has host
// threads, and gives each to `take` as soon as those before it are taken; one call at a time. False when
// `take` wanted no more; when the run's flag stops it, the trials that have begun are taken.
bool try_all(const TrialSetup& setup, std::span<const sim::check::Conditions> conditions, unsigned together,
             TakeTrial take, const FirstTrial& first = {});

// By RunOptions::stop.
bool stopped(const sim::RunOptions& run);

}  // namespace palladion::verify
