// One submission of a lab, judged: compiled, recorded, run on inputs that it has not seen, checked, measured.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "labs/engine/recording.h"
#include "isa/host/outcome.h"
#include "labs/judge.h"
#include "report/run/run.h"

namespace palladion::cli {

struct CaseVerdict {
  std::string values;                             // "n=4096"
  std::vector<verify::OutputComparison> outputs;  // the worst of each
  size_t errors = 0;                              // findings
  size_t schedules = 0;                           // that ran
  bool decided = false;                           // one run decides for all schedules
  bool completed = true;
  std::string refused;         // why it could not run
  std::string worst_schedule;  // whose outputs differ most, or the last that ran
  bool ok() const;
};

struct MeasureVerdict {
  const labs::Measure* rule = nullptr;
  std::optional<double> value;
  std::string why_none;
  bool with_values = false;  // the clock needed the arrays' contents
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
  std::vector<const labs::TextRule*> broken_rules;
  std::vector<Recording> recorded;  // of the cases, then of the measures
  std::vector<CaseVerdict> cases;
  std::vector<SeenFinding> findings;
  std::vector<MeasureVerdict> measures;  // of a kernel whose cases are right
  std::vector<QuestionVerdict> questions;
  labs::Symptoms symptoms;
  const labs::Reply* reply = nullptr;
  bool passed = false;
  double compile_seconds = 0, seconds = 0;
};

// Labs are small: a warp that executes more loops for ever.
inline constexpr uint64_t most_warp_instructions = uint64_t{1} << 24;

const isa::ArchSpec& arch_of(const labs::Lab& lab);
std::vector<std::string> array_names(const labs::Lab& lab);  // inputs, then outputs
// The command that shows the findings of a case.
std::string replay_of(const LabVerdict& verdict, const Recording& recording);
// The finding that the reply explains, else the first one that counts; null: there is none.
const SeenFinding* main_finding(const LabVerdict& verdict);

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
