#pragma once
// Checks a launch: runs it under many schedules with the checkers, and says whether it is right and what that
// rests on. verify/README.md has an example.
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "sim/explore/data_dependence.h"
#include "sim/explore/report.h"
#include "verify/launch/outputs.h"
#include "verify/schedules/progress.h"
#include "verify/schedules/trial.h"

namespace palladion::verify {

// The outputs of a trial against a reference; empty: there is nothing to compare with.
using CompareOutputs = std::function<std::vector<OutputComparison>(const std::vector<Array>& outputs)>;

struct CheckRequest {
  sim::check::Options checks;  // all of them
  // Of every run: limits, host threads, contraction, the clock's settings. Schedule, observer and stop are
  // set by the engine.
  sim::RunOptions run;
  std::optional<sim::check::Conditions>
      only;                         // no other conditions; none: the adverse ones, then random ones
  uint64_t seed = 0;                // of the first random schedule
  unsigned random = 20;             // random schedules, unless one run decides for all
  std::optional<uint64_t> explore;  // states of the search through all schedules; none: no search
  CompareOutputs compare;           // none: outputs are compared between schedules alone
  bool other_values = true;         // errors about values that no output depends on become strict (values.h)
  bool stop_at_problem = false;     // a run that hangs is the last one; random ones only without a problem
  bool strict = false;              // what breaks the letter of PTX alone is a problem
  unsigned together = 8;            // runs at once, at most: each has arrays and checkers of its own
  std::vector<sim::Observer*> first;  // other observers of the first run
};

struct ReferenceComparison {
  std::string schedule;
  OutputComparison output;
};

struct CheckReport {
  std::vector<Trial> trials;
  std::vector<SeenFinding> findings;  // of all trials, and of the search
  // Of the first trial that completed, and of those whose outputs differ from its.
  std::vector<ReferenceComparison> reference;
  std::optional<sim::check::ExploreReport> explored;
  bool decided = false;  // one run decided for all schedules, or one for each number of answers
  // Of a kernel that asks to cancel launches: why its result is not that of all answers; empty: it is.
  std::optional<std::string> answers_open;
  sim::check::DataScope data;  // on which data the first trial depended; of use where all schedules are known
  bool others_skipped = false;  // because of that: further schedules, or random ones
  bool races_checked = false;
  bool interrupted = false;             // by Progress::stop
  std::vector<std::string> incomplete;  // why the verdict does not hold for all schedules
  Verdict verdict;

  // The trial with whose outputs the others are compared; null: none completed.
  const Trial* first_completed() const;
  bool outputs_vary() const;  // between schedules
  // Outputs differ from the reference. Without one, outputs that depend on the schedule indicate a race;
  // where races are checked, atomics in another order.
  bool wrong_outputs() const;
  bool hangs() const;
  std::vector<std::string> written_inputs() const;  // in any trial: buffers of Role::in
  // The result is that of all schedules: one run decided, or the search saw them all.
  bool knows_all_schedules() const;
  // For which schedules one run decided: those in which these hold; null: for none but those that were tried.
  std::optional<sim::check::Assumptions> assumptions() const;
  // So is the result of each grid of at most these CTAs in each dimension, with the same parameters: no CTA
  // can know of the others, and, since nothing was found, none reads what another writes.
  bool holds_for_smaller_grids() const;
};

// The error: the machine refused the launch. `job` is not changed.
tl::expected<CheckReport, isa::Diagnostics> check(const Job& job, const isa::ArchSpec& arch,
                                                  const CheckRequest& request = {},
                                                  const Progress<CheckReport>& progress = {});

// Sets `incomplete` and `verdict`; again after findings were suppressed.
void judge(CheckReport& report);

}  // namespace palladion::verify
