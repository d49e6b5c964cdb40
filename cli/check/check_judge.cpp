// The verdict over all trials.
#include <fmt/format.h>

#include <algorithm>

#include "cli/check/check_run.h"
#include "cli/support/interrupt.h"

namespace palladion::cli {
namespace {

std::vector<std::string> reasons_of(const CheckReport& report) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& reason) {
    if (std::ranges::find(all, reason) == all.end()) all.push_back(reason);
  };
  for (const Trial& t : report.trials) {
    sim::RunResult result;
    result.interrupted = t.outcome.result.interrupted;
    result.completed = t.outcome.result.completed || t.hangs_by_letter();
    for (const std::string& r : incomplete_reasons(result, t.watched ? &*t.watched : nullptr)) add(r);
  }
  if (report.explored && !report.explored->all_schedules) {
    const std::string& verdict = report.explored->verdict;
    add("exploration: " + verdict.substr(verdict.find(' ') + 1));  // without its first word, "incomplete:"
  }
  return all;
}

// Without a reference, outputs that depend on the schedule indicate a race; where races are checked, atomics
// in another order.
bool wrong_outputs(const CheckReport& report) {
  if (!report.reference.empty())
    return std::ranges::any_of(report.reference, [](const auto& c) { return !c.second.comparison.ok(); });
  return !report.races_checked &&
         std::ranges::any_of(report.trials, [](const Trial& t) { return !t.same_outputs; });
}

}  // namespace

void judge_check(CheckReport& report, bool strict) {
  const std::vector<std::string> reasons = reasons_of(report);
  if (interrupted()) {
    report.verdict = interrupted_verdict(report.findings);
    report.exit_code = exit_interrupted;
    return;
  }
  report.verdict = verdict_of(report.findings, reasons);
  report.exit_code = code_of_findings(report.findings, strict);
  if (report.exit_code == exit_findings) return;
  const auto any = [&](auto test) { return std::ranges::any_of(report.trials, test); };
  if (wrong_outputs(report)) {
    report.verdict = {Verdict::Word::errors, report.reference.empty() ? "outputs depend on the schedule"
                                                                      : "outputs differ from the reference"};
    report.exit_code = exit_findings;
  } else if (any([](const Trial& t) { return !t.outcome.result.completed && !t.hangs_by_letter(); }) &&
             report.exit_code == exit_clean) {
    report.exit_code = exit_findings;
  } else if (!reasons.empty()) {
    report.exit_code = exit_unsupported;
  }
}

}  // namespace palladion::cli
