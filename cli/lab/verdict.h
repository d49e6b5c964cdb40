// One submission of a lab, judged: compiled, recorded, run on inputs that it has not seen, checked, measured.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/findings/findings.h"
#include "cli/report/report.h"
#include "cli/support/json.h"
#include "cli/support/outcome.h"
#include "labs/judge.h"

namespace palladion::cli {

struct CaseVerdict {
  std::string values;  // "n=4096"
  std::vector<NamedComparison> outputs;
  size_t errors = 0;     // findings
  size_t schedules = 0;  // that ran
  bool decided = false;  // one run decides for all schedules
  bool completed = true;
  std::string refused;  // why it could not run
  bool ok() const;
};

struct MeasureVerdict {
  const labs::Measure* rule = nullptr;
  std::optional<double> value;
  std::string why_none;
  bool ok() const { return value && *value >= rule->low && *value <= rule->high; }
};

struct QuestionVerdict {
  const labs::Question* question = nullptr;
  std::string answer;
  bool answered() const { return !answer.empty() && answer != "?"; }
  bool ok() const { return question->accepts(answer); }
};

struct LabVerdict {
  const labs::Lab* lab = nullptr;
  std::filesystem::path file;
  std::string refusal;  // of the compiler, or while the kernel was recorded; whole lines
  std::vector<const labs::PtxRule*> broken_rules;
  std::vector<CaseVerdict> cases;
  std::vector<SeenFinding> findings;
  std::vector<MeasureVerdict> measures;  // of a kernel whose cases are right
  std::vector<QuestionVerdict> questions;
  labs::Symptoms symptoms;
  const labs::Reply* reply = nullptr;
  bool passed = false;
  double compile_seconds = 0, seconds = 0;
};

// Whether a finding is the learner's mistake.
bool counts(const labs::Lab& lab, const sim::Finding& finding);

// The error: there is no compiler, or the recording ended without an answer.
Outcome<LabVerdict> judge_file(const labs::Lab& lab, const std::filesystem::path& file, unsigned threads);

// The reply's text. {line} stands for the line of the file in the finding that is shown, {measured} and
// {limit} for the first measure that is out of its range and the end of that range.
std::string reply_text(const LabVerdict& verdict);

void print_verdict(const LabVerdict& verdict);
json::object verdict_json(const LabVerdict& verdict);

}  // namespace palladion::cli
