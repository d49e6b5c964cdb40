// One submission of a lab, judged: compiled, recorded, run on inputs that it has not seen, checked, measured.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isa/host/outcome.h"
#include "labs/engine/recording.h"
#include "labs/judge.h"
#include "verify/launch/outputs.h"
#include "verify/verdict/findings.h"

namespace palladion::labs {

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
  const Measure* rule = nullptr;
  std::optional<double> value;
  std::string why_none;
  bool with_values = false;  // the clock needed the arrays' contents
  bool ok() const { return value && rule->permits(*value); }
};

struct QuestionVerdict {
  const Question* question = nullptr;
  std::string answer;
  bool answered() const { return !answer.empty() && answer != "?"; }
  bool ok() const { return question->accepts(answer); }
};

struct LabVerdict {
  std::string program;  // that the commands name which show a finding again
  const Lab* lab = nullptr;
  std::filesystem::path file;
  Confined confined;    // what confined the compiler and the recording
  std::string refusal;  // of the compiler, or while the kernel was recorded; whole lines
  std::vector<const TextRule*> broken_rules;
  std::vector<Recording> recorded;  // of the cases, then of the measures
  std::vector<CaseVerdict> cases;
  std::vector<verify::SeenFinding> findings;
  std::vector<MeasureVerdict> measures;  // of a kernel whose cases are right
  std::vector<QuestionVerdict> questions;
  Symptoms symptoms;
  const Reply* reply = nullptr;
  bool passed = false;
  // In [0, 1], 1 where it passed. A kernel that breaks a rule or is wrong in a case has 0; else the mean of
  // its measures' shares and its answers.
  double score = 0;
  double compile_seconds = 0, seconds = 0;
};

// Labs are small: a launch that executes more, or a warp, loops for ever.
inline constexpr uint64_t most_instructions = uint64_t{8} << 20;
inline constexpr uint64_t most_warp_instructions = uint64_t{1} << 19;

const isa::ArchSpec& arch_of(const Lab& lab);
std::vector<std::string> array_names(const Lab& lab);  // inputs, then outputs
// The command that shows the findings of a case.
std::string replay_of(const LabVerdict& verdict, const Recording& recording);
// The finding that the reply explains, else the first one that counts; null: there is none.
const verify::SeenFinding* main_finding(const LabVerdict& verdict);

// Whether a finding is the learner's mistake.
bool counts(const Lab& lab, const sim::Finding& finding);

struct JudgeRequest {
  unsigned threads = 0;                     // of the host; 0: all
  std::string program = "palladion";        // LabVerdict::program
  const std::atomic<bool>* stop = nullptr;  // set from outside: judging ends
  bool unconfined = false;                  // also where this kernel does not confine enough
  kernels::Note note = {};                  // a line when something takes long
  Enter enter = {};                         // none: the process stays as it is
};

// The error: the file is a link or no file, there is no compiler, or the recording ended without an answer;
// unsupported where the submission cannot be confined.
host::Outcome<LabVerdict> judge_file(const Lab& lab, const std::filesystem::path& file,
                                     const JudgeRequest& request);

}  // namespace palladion::labs
