// `palladion check`: one subject under several schedules, reported as one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/execute/execute.h"
#include "cli/support/term.h"
#include "sim/explore/report.h"

namespace palladion::cli {

// `run`, under several schedules.
struct CheckRequest {
  RunRequest run;
  std::optional<unsigned> seeds;    // random schedules
  std::optional<uint64_t> explore;  // states to search at most
};

// One schedule.
struct Trial {
  std::string schedule;
  SimOutcome outcome;  // outputs are kept of the first trial that completed, of others hashes alone
  std::optional<Watched> watched;
  std::vector<std::string> output_hashes;
  bool same_outputs = true;  // as the first trial's that reached its end

  bool decides() const;  // it decides for all schedules
  // It hangs, but only the letter of PTX is violated: no existing machine behaves so.
  bool hangs_by_letter() const;
};

struct CheckReport {
  std::vector<Trial> trials;
  std::vector<SeenFinding> findings;  // of all trials, and of the exploration
  // Against the kernel's reference: of the first trial, and of those whose outputs differ from its.
  std::vector<std::pair<std::string, NamedComparison>> reference;
  std::string unused_suppressions;
  std::optional<sim::check::ExploreReport> explored;
  bool decided = false;        // one run decided for all schedules
  bool seeds_skipped = false;  // because of that
  bool races_checked = false;
  Verdict verdict;
  ExitCode exit_code = exit_clean;
  std::shared_ptr<PageRecording> page;  // --report: of the first trial
};

// Runs; returns the user's error when nothing could run at all.
Outcome<CheckReport> run_check(Subject& subject, const CheckRequest& request);

// ---- the parts of it -------------------------------------------------------------------------------
struct CheckSession {
  Subject& subject;
  const CheckRequest& request;
  CheckReport report;
  sim::check::SkeletonObserver recorder;  // of the first run
  std::string recorded;                   // under these conditions
  Progress& progress;                     // a step a schedule
};
// Runs that do not depend on each other, side by side on the host's threads; fewer results than conditions
// after Ctrl-C.
std::vector<Trial> try_together(const CheckSession& session,
                                std::span<const sim::check::Conditions> conditions);
// Compares its outputs, merges its findings, prints its line.
Outcome<void> take_trial(CheckSession& session, Trial trial);
// All of them side by side; each is taken as soon as those before it are. `recorder`: of the first.
Outcome<void> try_all(CheckSession& session, std::span<const sim::check::Conditions> conditions,
                      sim::check::SkeletonObserver* recorder = nullptr);
std::string replay_command(const RunRequest& request, std::string_view command, const std::string& more);

// What --explore adds (check_explore.cpp): waits that give up, other elected lanes, residency and start
// orders; then the search.
Outcome<void> try_freedoms(CheckSession& session);
void search_schedules(CheckSession& session);

// Findings about values that no output depends on become strict (check_values.cpp).
void examine_values(CheckSession& session);

// The verdict and the exit code (check_judge.cpp).
void judge_check(CheckReport& report, bool strict);

// ---- the report ------------------------------------------------------------------------------------
void print_check(const Subject& subject, const CheckRequest& request, const CheckReport& report);
std::string check_json(const Subject& subject, const CheckRequest& request, const CheckReport& report);

}  // namespace palladion::cli
