#pragma once
// A launch, run once under given conditions with its checkers.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/explore/conditions.h"
#include "sim/explore/recorder.h"
#include "verify/launch/runner.h"
#include "verify/verdict/verdict.h"
#include "verify/verdict/watch.h"

namespace palladion::verify {

struct CheckedRun {
  SimOutcome outcome;
  std::optional<Watched> watched;  // none without checkers
};
// The run's observer is set here. `recorder` gets the synchronisation of every cluster; null: none does.
// `more`: other observers. A kernel may write to its inputs, and so to the job.
CheckedRun run_checked(Job& job, const isa::ArchSpec& arch, sim::RunOptions run,
                       const sim::check::Options& checks, sim::check::SkeletonObserver* recorder = nullptr,
                       std::span<sim::Observer* const> more = {});

// What all trials of a launch share.
struct TrialSetup {
  const Job& job;  // each trial runs a copy
  const isa::ArchSpec& arch;
  sim::RunOptions run;  // limits, host threads, the flag that stops it; a trial sets schedule and observer
  sim::check::Options checks;
};

struct Trial {
  std::string schedule;  // the name of its conditions
  SimOutcome outcome;    // outputs are kept of the first trial that completed, of others hashes alone
  std::optional<Watched> watched;
  std::vector<uint64_t> output_hashes;
  std::vector<std::string> written_inputs;  // buffers of Role::in that the kernel has changed
  bool same_outputs = true;                 // as the first trial's that reached its end

  bool decides() const;  // it decides for all schedules
  // It hangs, but only the letter of PTX is violated: no existing machine behaves so.
  bool hangs_by_letter() const;
  // It ended as a program for the chip does.
  bool ended() const { return outcome.result.completed || hangs_by_letter(); }
};

Trial try_under(const TrialSetup& setup, const sim::check::Conditions& conditions,
                sim::check::SkeletonObserver* recorder = nullptr, std::span<sim::Observer* const> more = {});

// Buffers that the kernel was given to read alone and whose contents are others than `before`.
std::vector<std::string> written_inputs(const Job& before, const Job& after);
std::vector<uint64_t> hashes_of(const std::vector<Array>& arrays);
// A loop was taken for an endless one; it would take as long under every schedule.
bool was_given_up(const sim::RunResult& result);

}  // namespace palladion::verify
