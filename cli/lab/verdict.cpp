#include "cli/lab/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "cli/lab/recording.h"
#include "cli/runs/timed_run.h"
#include "cli/support/files.h"
#include "cli/support/program_name.h"
#include "isa/arch/clock.h"
#include "isa/text/print.h"
#include "labs/measures.h"
#include "labs/references.h"
#include "sim/check/checker.h"
#include "sim/check/observers.h"
#include "sim/explore/conditions.h"
#include "sim/explore/decide.h"
#include "verify/launch/runner.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;
using sim::check::Conditions;
using Kind = sim::Schedule::Kind;

constexpr uint64_t most_instructions = uint64_t{400} << 20;
constexpr uint64_t random_schedules = 5;

class Judge {
 public:
  Judge(LabVerdict& verdict, unsigned threads)
      : v_(verdict), lab_(*verdict.lab), threads_(threads), arch_(arch_of(*verdict.lab)) {}

  Outcome<void> judge() {
    const auto source = read_text(v_.file, most_of_settings);
    if (!source) return user_error(source.error());
    take_answers(*source);
    v_.symptoms.source = labs::bare_source(*source);
    std::vector<labs::Values> all_values;
    for (const labs::Case& one : lab_.cases) all_values.push_back(one.values);
    for (const labs::Measure& one : lab_.measures) all_values.push_back(one.values);
    auto recordings = record_file(lab_, v_.file, all_values);
    if (!recordings) return tl::make_unexpected(recordings.error());
    v_.compile_seconds = recordings->compile_seconds;
    if (take_refusals(*recordings)) return {};
    v_.recorded = std::move(recordings->all);
    take_ptx(v_.recorded.front().kernel);
    for (size_t i = 0; i < lab_.cases.size(); ++i) v_.cases.push_back(run_case(i, v_.recorded[i].kernel));
    sort_findings(v_.findings);
    for (const SeenFinding& seen : v_.findings)
      v_.symptoms.codes.push_back({seen.finding.code.name(), finding_text(seen, FindingView())});
    if (!std::ranges::all_of(v_.cases, &CaseVerdict::ok)) return {};
    for (size_t i = 0; i < lab_.measures.size(); ++i)
      v_.measures.push_back(measure(lab_.measures[i], v_.recorded[lab_.cases.size() + i].kernel));
    return {};
  }

  void conclude() {
    const auto ok = [](const auto& part) { return part.ok(); };
    v_.passed = v_.refusal.empty() && v_.broken_rules.empty() && !v_.cases.empty() &&
                std::ranges::all_of(v_.cases, ok) && std::ranges::all_of(v_.measures, ok) &&
                std::ranges::all_of(v_.questions, ok);
    if (!v_.passed) v_.reply = labs::reply_to(lab_, v_.symptoms);
  }

 private:
  void take_answers(const std::string& source) {
    const auto given = labs::answers_in(source);
    for (const labs::Question& question : lab_.questions) {
      const auto at = given.find(question.name);
      v_.questions.push_back({&question, at == given.end() ? "" : at->second});
      if (v_.questions.back().answered() && !v_.questions.back().ok())
        v_.symptoms.wrong_answers[question.name] = v_.questions.back().answer;
    }
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
  std::string other_arrays(const labs::Case& one, const plgpu::Launch& launch) const {
    const auto of = [&](const std::vector<labs::ArrayRule>& rules) {
      std::vector<pl::ShapeDtype> types;
      for (const labs::ArrayRule& rule : rules) types.push_back(rule.type(one.values));
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
                       labs::text_of(one.values), list(launch.inputs), list(launch.outputs), list(inputs),
                       list(outputs));
  }

  void take_ptx(const plgpu::Kernel& kernel) {
    v_.symptoms.ptx = isa::print(kernel.module, {.source_lines = false});
    for (const labs::TextRule& rule : lab_.text_rules)
      if (!labs::keeps(rule, v_.symptoms.ptx, v_.symptoms.source)) {
        v_.broken_rules.push_back(&rule);
        v_.symptoms.broken_rules.push_back(rule.text);
      }
  }

  sim::RunOptions options(const Conditions& conditions, sim::Observer* observer) const {
    sim::RunOptions run;
    conditions.apply(run);
    run.threads = threads_;
    run.max_warp_instructions = most_warp_instructions;
    run.max_instructions = most_instructions;
    run.observer = observer;
    run.stop = &interrupt_flag();
    return run;
  }

  // Gives the outputs.
  std::vector<Array> run_once(size_t number, const Job& job, const Conditions& conditions, CaseVerdict& out,
                              sim::check::SkeletonObserver* recorder) {
    sim::Machine machine(arch_);
    sim::check::Checker checker;
    std::vector<sim::Observer*> attached = {&checker};
    if (recorder != nullptr) attached.push_back(recorder);
    sim::check::Observers observers(std::move(attached));
    Job own = job;  // a kernel may write to its inputs
    SimOutcome outcome = palladion::run(own, machine, options(conditions, &observers));
    ++out.schedules;
    if (!outcome.result.errors.empty()) {
      out.refused = isa::render(outcome.result.errors);
      out.completed = false;
      for (const isa::Diagnostic& d : outcome.result.errors)
        v_.symptoms.codes.push_back({d.code, out.refused});
      return {};
    }
    out.errors += size_t(std::ranges::count_if(outcome.result.findings,
                                               [&](const sim::Finding& f) { return counts(lab_, f); }));
    out.completed = out.completed && outcome.result.completed;
    merge_findings(v_.findings, outcome.result.findings, sim::check::name(conditions),
                   replay_of(v_, v_.recorded[number]));
    if (recorder != nullptr)
      out.decided = sim::check::decide_run(recorder->recorded(), checker.coverage()).decided;
    return std::move(outcome.outputs);
  }

  CaseVerdict run_case(size_t number, const plgpu::Kernel& kernel) {
    const labs::Case& one = lab_.cases[number];
    CaseVerdict out{.values = labs::text_of(one.values)};
    const std::vector<Array> inputs = labs::inputs_of(lab_, one);
    Job job;
    try {
      job = job_of(kernel, inputs, array_names(lab_));
    } catch (const isa::Error& e) {
      out.refused = isa::render(e.diagnostics());
      for (const isa::Diagnostic& d : e.diagnostics()) v_.symptoms.codes.push_back({d.code, out.refused});
      return out;
    }
    std::deque<Conditions> conditions = {{.schedule = {Kind::functional, 0}, .order = {}},
                                         {.schedule = {Kind::latest, 0}, .order = {}},
                                         {.schedule = {Kind::earliest, 0}, .order = {}}};
    for (uint64_t i = 1; i <= random_schedules; ++i)
      conditions.push_back({.schedule = {Kind::seeded, i}, .order = {}});
    const std::vector<Array> wanted = labs::expected(lab_, one, inputs);
    bool wrong = false;
    for (size_t i = 0; i < conditions.size(); ++i) {
      if (i >= 3 && (out.decided || out.errors != 0 || wrong)) break;
      sim::check::SkeletonObserver recorder;
      const auto got = run_once(number, job, conditions[i], out, i == 0 ? &recorder : nullptr);
      if (!out.completed || interrupted()) break;
      compare_all(got, wanted, sim::check::name(conditions[i]), out);
      wrong = wrong ||
              std::ranges::any_of(out.outputs, [](const NamedComparison& c) { return !c.comparison.ok(); });
    }
    if (wrong) v_.symptoms.wrong_cases.push_back(number + 1);
    return out;
  }

  // Keeps the worst comparison of each output.
  void compare_all(const std::vector<Array>& got, const std::vector<Array>& wanted,
                   const std::string& schedule, CaseVerdict& out) const {
    for (size_t i = 0; i < wanted.size(); ++i) {
      NamedComparison c{.output = lab_.outputs[i].name,
                        .dtype = wanted[i].dtype(),
                        .tolerance = lab_.tolerance,
                        .comparison = compare(got[i], wanted[i], lab_.tolerance),
                        .note = {}};
      const bool is_new = i >= out.outputs.size();
      if (!is_new && c.comparison.outside <= out.outputs[i].comparison.outside) continue;
      if (is_new) out.outputs.emplace_back();
      out.outputs[i] = std::move(c);
      out.worst_schedule = schedule;
    }
  }

  MeasureVerdict measure(const labs::Measure& rule, const plgpu::Kernel& kernel) {
    MeasureVerdict out{.rule = &rule};
    const labs::Case one{rule.values, 1};
    for (const sim::Values values : {sim::Values::none, sim::Values::full}) {
      Job job = job_of(kernel, labs::inputs_of(lab_, one), array_names(lab_));
      sim::Machine machine(arch_);
      sim::RunOptions run = options({.schedule = {Kind::hardware, 0}, .order = {}}, nullptr);
      run.values = values;
      const sim::RunResult result = palladion::run(job, machine, run).result;
      if (refused_for_values(result)) continue;
      if (const NoTime none = why_no_time(result); !none.code.empty()) {
        out.why_none = none.code + ": " + none.reason;
        v_.symptoms.codes.push_back({none.code, none.reason});
      } else {
        out.value = labs::measured(rule.quantity, result.clock);
        out.with_values = values == sim::Values::full;
      }
      break;
    }
    if (!out.ok()) v_.symptoms.missed_measures.push_back(rule.quantity);
    return out;
  }

  LabVerdict& v_;
  const labs::Lab& lab_;
  unsigned threads_;
  const isa::ArchSpec& arch_;
};

}  // namespace

const isa::ArchSpec& arch_of(const labs::Lab& lab) {
  return lab.arch.empty() ? isa::default_arch() : *isa::find_arch(lab.arch);
}

std::vector<std::string> array_names(const labs::Lab& lab) {
  std::vector<std::string> names;
  for (const auto* rules : {&lab.inputs, &lab.outputs})
    for (const labs::ArrayRule& rule : *rules) names.push_back(rule.name);
  return names;
}

std::string replay_of(const LabVerdict& verdict, const Recording& recording) {
  std::string out = fmt::format("{} check {}", program_name(), verdict.file.filename().string());
  if (!recording.sizes.empty()) out += " --shape " + labs::text_of(recording.sizes);
  if (!recording.settings.empty()) out += " --set " + labs::text_of(recording.settings);
  if (!verdict.lab->arch.empty()) out += " --arch " + verdict.lab->arch;
  if (verdict.lab->strict) out += " --strict";
  return out;
}

bool counts(const labs::Lab& lab, const sim::Finding& finding) {
  return lab.strict || finding.severity != sim::FindingSeverity::strict;
}

bool CaseVerdict::ok() const {
  return refused.empty() && errors == 0 && completed && !outputs.empty() &&
         std::ranges::all_of(outputs, [](const NamedComparison& c) { return c.comparison.ok(); });
}

Outcome<LabVerdict> judge_file(const labs::Lab& lab, const fs::path& file, unsigned threads) {
  const Polled polls;
  const auto start = std::chrono::steady_clock::now();
  LabVerdict verdict{.lab = &lab, .file = file};
  Judge judge(verdict, threads);
  if (const auto judged = judge.judge(); !judged) return tl::make_unexpected(judged.error());
  if (interrupted()) return tl::make_unexpected(Failure{exit_interrupted, {}});
  judge.conclude();
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

}  // namespace palladion::cli
