#include "labs/engine/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "isa/arch/clock.h"
#include "isa/host/files.h"
#include "isa/text/print.h"
#include "labs/engine/recording.h"
#include "labs/measures.h"
#include "labs/references.h"
#include "report/run/time_report.h"
#include "report/text/finding_text.h"
#include "verify/check.h"
#include "verify/launch/timed_run.h"

namespace palladion::labs {

using namespace host;

namespace {

namespace fs = std::filesystem;

constexpr unsigned random_schedules = 5;

class Judge {
 public:
  Judge(LabVerdict& verdict, const JudgeRequest& request)
      : v_(verdict), lab_(*verdict.lab), request_(request), arch_(arch_of(*verdict.lab)) {}

  Outcome<void> judge() {
    std::error_code none;
    if (const auto status = fs::symlink_status(v_.file, none);
        fs::exists(status) && !fs::is_regular_file(status))
      return user_error(fmt::format("{}: {}, not a file of its own: it is not judged", v_.file.string(),
                                    fs::is_symlink(status) ? "is a symbolic link" : "is no regular file"));
    const auto source = read_text(v_.file, most_of_settings);
    if (!source) return user_error(source.error());
    take_answers(*source);
    v_.symptoms.source = bare_source(*source);
    std::vector<Values> all_values;
    for (const Case& one : lab_.cases) all_values.push_back(one.values);
    for (const Measure& one : lab_.measures) all_values.push_back(one.values);
    auto recordings =
        record_file(lab_, v_.file, all_values,
                    {.unconfined = request_.unconfined, .note = request_.note, .enter = request_.enter});
    if (!recordings) return tl::make_unexpected(recordings.error());
    v_.confined = recordings->confined;
    v_.compile_seconds = recordings->compile_seconds;
    if (take_refusals(*recordings)) return {};
    v_.recorded = std::move(recordings->all);
    take_ptx(v_.recorded.front().kernel);
    for (size_t i = 0; i < lab_.cases.size(); ++i) v_.cases.push_back(run_case(i, v_.recorded[i].kernel));
    sort_findings(v_.findings);
    for (const verify::SeenFinding& seen : v_.findings)
      v_.symptoms.codes.push_back({seen.finding.code.name(), report::finding_text(seen, {})});
    if (!std::ranges::all_of(v_.cases, &CaseVerdict::ok)) return {};
    for (size_t i = 0; i < lab_.measures.size(); ++i)
      v_.measures.push_back(measure(lab_.measures[i], v_.recorded[lab_.cases.size() + i].kernel));
    return {};
  }

  void conclude() {
    const auto ok = [](const auto& part) { return part.ok(); };
    const bool is_right = v_.refusal.empty() && v_.broken_rules.empty() && !v_.cases.empty() &&
                          std::ranges::all_of(v_.cases, ok);
    v_.passed = is_right && std::ranges::all_of(v_.measures, ok) && std::ranges::all_of(v_.questions, ok);
    v_.score = is_right ? share_of_goals() : 0;
    if (!v_.passed) v_.reply = reply_to(lab_, v_.symptoms);
  }

 private:
  void take_answers(const std::string& source) {
    const auto given = answers_in(source);
    for (const Question& question : lab_.questions) {
      const auto at = given.find(question.name);
      v_.questions.push_back({&question, at == given.end() ? "" : at->second});
      if (v_.questions.back().answered() && !v_.questions.back().ok())
        v_.symptoms.wrong_answers[question.name] = v_.questions.back().answer;
    }
  }

  // Of a kernel that is right: the mean of its measures' shares and its answers.
  double share_of_goals() const {
    const size_t goals = v_.measures.size() + v_.questions.size();
    if (goals == 0) return 1;
    double reached = 0;
    for (const MeasureVerdict& m : v_.measures) reached += m.value ? m.rule->share(*m.value) : 0;
    for (const QuestionVerdict& q : v_.questions) reached += q.ok() ? 1 : 0;
    return reached / double(goals);
  }

  // True when there is no kernel to run.
  bool take_refusals(const Recordings& recordings) {
    if (!recordings.compiler_error.empty()) {
      v_.symptoms.compiles = false;
      v_.refusal = v_.symptoms.compiler_text = recordings.compiler_error;
      return true;
    }
    for (const Recording& one : recordings.all) {
      if (one.refusals.empty()) continue;
      v_.symptoms.codes = one.refusals;
      v_.refusal = one.text;
      return true;
    }
    for (size_t i = 0; i < lab_.cases.size() && v_.refusal.empty(); ++i)
      v_.refusal = other_arrays(lab_.cases[i], recordings.all[i].kernel.launch);
    return !v_.refusal.empty();
  }

  // What the kernel's arrays should be, when they are not.
  std::string other_arrays(const Case& one, const plgpu::Launch& launch) const {
    const auto of = [&](const std::vector<ArrayRule>& rules) {
      std::vector<pl::ShapeDtype> types;
      for (const ArrayRule& rule : rules) types.push_back(rule.type(one.values));
      return types;
    };
    const auto list = [](const std::vector<pl::ShapeDtype>& types) {
      std::vector<std::string> texts;
      for (const pl::ShapeDtype& type : types) texts.push_back(pl::to_string(type));
      return fmt::format("{}", fmt::join(texts, ", "));
    };
    const auto inputs = of(lab_.inputs), outputs = of(lab_.outputs);
    if (launch.inputs == inputs && launch.outputs == outputs) return {};
    return fmt::format("error: for {} the kernel takes {} and gives {}; the lab's arrays are {} and {}\n",
                       text_of(one.values), list(launch.inputs), list(launch.outputs), list(inputs),
                       list(outputs));
  }

  void take_ptx(const plgpu::Kernel& kernel) {
    v_.symptoms.ptx = isa::print(kernel.module, {.source_lines = false});
    for (const TextRule& rule : lab_.text_rules)
      if (!keeps(rule, v_.symptoms.ptx, v_.symptoms.source)) {
        v_.broken_rules.push_back(&rule);
        v_.symptoms.broken_rules.push_back(rule.text);
      }
  }

  sim::RunOptions options() const {
    return {.threads = request_.threads,
            .max_instructions = most_instructions,
            .max_warp_instructions = most_warp_instructions};
  }

  CaseVerdict run_case(size_t number, const plgpu::Kernel& kernel) {
    const Case& one = lab_.cases[number];
    CaseVerdict out{.values = text_of(one.values)};
    const std::vector<Array> inputs = inputs_of(lab_, one);
    Job job;
    try {
      job = job_of(kernel, inputs, array_names(lab_));
    } catch (const isa::Error& e) {
      refuse(out, e.diagnostics());
      return out;
    }
    const std::vector<Array> wanted = expected(lab_, one, inputs);
    const auto checked = verify::check(
        job, arch_,
        {.run = options(),
         .seed = 1,
         .random = random_schedules,
         .compare =
             [&](const auto& got) { return verify::compare_outputs(job, got, wanted, lab_.tolerance); },
         .other_values = false,
         .stop_at_problem = true,
         .strict = lab_.strict,
         .together = 1},
        {.stop = request_.stop});
    if (checked)
      take_report(number, *checked, out);
    else
      refuse(out, checked.error());
    return out;
  }

  void refuse(CaseVerdict& out, const isa::Diagnostics& errors) {
    out.refused = isa::render(errors);
    for (const isa::Diagnostic& d : errors) v_.symptoms.codes.push_back({d.code.name(), out.refused});
  }

  void take_report(size_t number, const verify::CheckReport& report, CaseVerdict& out) {
    const std::string replay = replay_of(v_, v_.recorded[number]);
    for (const verify::Trial& trial : report.trials) {
      const auto& findings = trial.outcome.result.findings;
      out.errors +=
          size_t(std::ranges::count_if(findings, [&](const sim::Finding& f) { return counts(lab_, f); }));
      out.completed = out.completed && trial.outcome.result.completed;
      merge_findings(v_.findings, findings, trial.schedule, replay);
    }
    out.schedules = report.trials.size();
    out.decided = report.decided;
    for (const auto& [schedule, output] : report.reference) keep_worst(schedule, output, out);
    if (report.wrong_outputs()) v_.symptoms.wrong_cases.push_back(number + 1);
  }

  static void keep_worst(const std::string& schedule, const verify::OutputComparison& output,
                         CaseVerdict& out) {
    const auto known = std::ranges::find(out.outputs, output.output, &verify::OutputComparison::output);
    if (known != out.outputs.end() && output.comparison.outside <= known->comparison.outside) return;
    if (known == out.outputs.end())
      out.outputs.push_back(output);
    else
      *known = output;
    out.worst_schedule = schedule;
  }

  MeasureVerdict measure(const Measure& rule, const plgpu::Kernel& kernel) {
    MeasureVerdict out{.rule = &rule};
    const Case one{rule.values, 1};
    for (const sim::Values values : {sim::Values::none, sim::Values::full}) {
      sim::RunOptions run = options();
      run.values = values;
      run.stop = request_.stop;
      const Job job = job_of(kernel, inputs_of(lab_, one), array_names(lab_));
      const sim::RunResult result = verify::timed_run(job, arch_, run);
      if (verify::refused_for_values(result)) continue;
      if (const report::NoTime none = report::why_no_time(result); none.code.known()) {
        out.why_none = none.code.name() + ": " + none.reason;
        v_.symptoms.codes.push_back({none.code.name(), none.reason});
      } else {
        out.value = measured(rule.quantity, result.clock);
        out.with_values = values == sim::Values::full;
      }
      break;
    }
    if (!out.ok()) v_.symptoms.missed_measures.push_back(rule.quantity);
    return out;
  }

  LabVerdict& v_;
  const Lab& lab_;
  const JudgeRequest& request_;
  const isa::ArchSpec& arch_;
};

}  // namespace

const isa::ArchSpec& arch_of(const Lab& lab) {
  return lab.arch.empty() ? isa::default_arch() : *isa::find_arch(lab.arch);
}

std::vector<std::string> array_names(const Lab& lab) {
  std::vector<std::string> names;
  for (const auto* rules : {&lab.inputs, &lab.outputs})
    for (const ArrayRule& rule : *rules) names.push_back(rule.name);
  return names;
}

std::string replay_of(const LabVerdict& verdict, const Recording& recording) {
  std::string out = fmt::format("{} check {}", verdict.program, verdict.file.filename().string());
  if (!recording.sizes.empty()) out += " --shape " + text_of(recording.sizes);
  if (!recording.settings.empty()) out += " --set " + text_of(recording.settings);
  if (!verdict.lab->arch.empty()) out += " --arch " + verdict.lab->arch;
  if (verdict.lab->strict) out += " --strict";
  return out;
}

bool counts(const Lab& lab, const sim::Finding& finding) {
  return lab.strict || finding.severity != sim::FindingSeverity::strict;
}

bool CaseVerdict::ok() const {
  return refused.empty() && errors == 0 && completed && !outputs.empty() &&
         std::ranges::all_of(outputs, [](const verify::OutputComparison& c) { return c.comparison.ok(); });
}

// The others often follow from it.
const verify::SeenFinding* main_finding(const LabVerdict& v) {
  const verify::SeenFinding* first = nullptr;
  for (const verify::SeenFinding& seen : v.findings) {
    if (!counts(*v.lab, seen.finding)) continue;
    if (first == nullptr) first = &seen;
    if (v.reply != nullptr)
      for (const Condition& condition : v.reply->conditions)
        if (condition.kind == Condition::Kind::code && condition.word == seen.finding.code.name())
          return &seen;
  }
  return first;
}

Outcome<LabVerdict> judge_file(const Lab& lab, const fs::path& file, const JudgeRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  LabVerdict verdict{.program = request.program, .lab = &lab, .file = file};
  Judge judge(verdict, request);
  if (const auto judged = judge.judge(); !judged) return tl::make_unexpected(judged.error());
  if (request.stop != nullptr && request.stop->load()) return interruption();
  judge.conclude();
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

}  // namespace palladion::labs
