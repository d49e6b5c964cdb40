#pragma once
// Runs a recorded kernel under several schedules with all checkers and says what they found.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/plgpu.h"
#include "report/text/finding_text.h"
#include "sim/check/checker.h"
#include "sim/check/observers.h"
#include "sim/explore/report.h"
#include "verify/launch/runner.h"

namespace palladion::test {

struct Judged {
  std::set<std::string> races, other;  // codes of errors; other: no race, but wrong as well
  std::string text;                    // of all findings
  std::vector<Array> outputs;          // under the first schedule
};

// Accesses without an order: of copies (PLD43xx), of wgmma (PLD44xx), in global memory (PLD60xx).
inline bool is_race(const std::string& code) {
  return code.starts_with("PLD43") || code.starts_with("PLD44") || code.starts_with("PLD60") ||
         code == "PLD4610" || code == "PLD4806";  // a barrier is taken for the completion of a copy
}

inline void add_findings(Judged& judged, const std::vector<sim::Finding>& findings) {
  for (const sim::Finding& f : findings) {
    // Strict with us, and errors of Pallas' detector: stores of the same value, stores that are not awaited
    // at the exit.
    const bool theirs = f.severity == sim::FindingSeverity::strict &&
                        (f.code == "PLD6001" || f.code == "PLD4314" || f.code == "PLD4118");
    if (f.severity != sim::FindingSeverity::error && !theirs) continue;
    (is_race(f.code.name()) ? judged.races : judged.other).insert(f.code.name());
    judged.text += report::finding_text(f) + "\n";
  }
}

inline Judged judge(const plgpu::Kernel& kernel, const std::vector<Array>& inputs) {
  Judged judged;
  for (const char* schedule : {"functional", "latest", "earliest", "seeded:1"}) {
    sim::Machine machine(*isa::find_arch("h200"));
    sim::check::Checker checker;
    sim::RunOptions options;
    options.schedule = *sim::schedule_named(schedule);
    options.threads = 1;
    options.max_instructions = 1'000'000;
    options.observer = &checker;
    SimOutcome out = run(kernel, inputs, machine, options);
    EXPECT_TRUE(out.result.errors.empty()) << isa::render(out.result.errors);
    if (!out.result.completed && out.result.findings.empty()) judged.other.insert("not completed");
    add_findings(judged, out.result.findings);
    if (judged.outputs.empty()) judged.outputs = std::move(out.outputs);
  }
  return judged;
}

// What any schedule of the run's synchronisation would do; findings of severity strict count.
inline sim::check::ExploreReport explore(const plgpu::Kernel& kernel, const std::vector<Array>& inputs) {
  sim::Machine machine(*isa::find_arch("h200"));
  sim::check::SkeletonObserver recorder;
  sim::RunOptions options;
  options.threads = 1;
  options.observer = &recorder;
  EXPECT_TRUE(run(kernel, inputs, machine, options).result.completed);
  return sim::check::explore_run(recorder.recorded());
}

}  // namespace palladion::test
