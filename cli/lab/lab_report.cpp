#include "cli/lab/lab_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/execute/execute.h"
#include "cli/html/error_map.h"
#include "cli/html/recording.h"
#include "labs/references.h"

namespace palladion::cli {
namespace {

constexpr std::string_view on_the_clock = "hardware";

// A run of the submission.
struct ShownRun {
  size_t recorded = 0;  // index of LabVerdict::recorded
  labs::Case launch;
  std::string schedule;
  bool checked = true;  // with the checkers; their findings and the outputs are shown
  bool with_values = true;
};

ShownRun of_case(const LabVerdict& v, size_t number, std::string schedule) {
  return {.recorded = number, .launch = v.lab->cases[number], .schedule = std::move(schedule)};
}

ShownRun chosen_run(const LabVerdict& v) {
  if (const SeenFinding* shown = main_finding(v))
    for (size_t i = 0; i < v.cases.size(); ++i)
      if (shown->replay == replay_of(v, v.recorded[i])) return of_case(v, i, shown->schedules.front());
  for (size_t i = 0; i < v.cases.size(); ++i)
    if (!v.cases[i].ok()) return of_case(v, i, v.cases[i].worst_schedule);
  const auto missed = std::ranges::find_if(v.measures, [](const MeasureVerdict& m) { return !m.ok(); });
  if (!v.measures.empty()) {
    const size_t i = missed == v.measures.end() ? 0 : static_cast<size_t>(missed - v.measures.begin());
    return {.recorded = v.lab->cases.size() + i,
            .launch = {v.measures[i].rule->values, 1},
            .schedule = std::string(on_the_clock),
            .checked = false,
            .with_values = v.measures[i].with_values};
  }
  return of_case(v, 0, std::string(on_the_clock));
}

Options options_of(const LabVerdict& v, const ShownRun& run, const Options& given) {
  Options o = given;
  o.command = Command::run;
  o.kernel = v.file.filename().string();
  o.sizes = run.launch.values;
  o.arch = arch_of(*v.lab).name;
  o.schedule = run.schedule.empty() ? "functional" : run.schedule;
  o.check = run.checked ? "all" : "none";
  o.values = run.with_values ? "full" : "none";
  o.strict = v.lab->strict;
  o.max_instructions = most_warp_instructions;
  o.reference = false;  // the lab's own, below
  return o;
}

std::vector<NamedComparison> compared(const LabVerdict& v, const ShownRun& run,
                                      const std::vector<Array>& inputs, const std::vector<Array>& got) {
  std::vector<NamedComparison> out;
  const std::vector<Array> wanted = labs::expected(*v.lab, run.launch, inputs);
  for (size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
    const Comparison c = compare(got[i], wanted[i], v.lab->tolerance);
    out.push_back({{v.lab->outputs[i].name, got[i].dtype(), v.lab->tolerance, c, {}}});
    out.back().map = error_map(got[i], wanted[i], v.lab->tolerance, c);
  }
  return out;
}

}  // namespace

Outcome<void> write_lab_page(const LabVerdict& v, const Options& given) {
  if (given.report.empty()) return {};
  if (v.cases.empty())
    return tl::make_unexpected(
        Failure{exit_not_written, "error: --report: no kernel was recorded, so there is nothing to show\n"});
  const ShownRun run = chosen_run(v);
  const Options options = options_of(v, run, given);
  const std::vector<Array> inputs = labs::inputs_of(*v.lab, run.launch);
  Subject subject;
  subject.name = options.kernel;
  subject.arch = &arch_of(*v.lab);
  subject.kernel = std::make_unique<plgpu::Kernel>(v.recorded[run.recorded].kernel);
  try {
    subject.job = job_of(*subject.kernel, inputs, array_names(*v.lab));
  } catch (const isa::Error& e) {
    return tl::make_unexpected(Failure{exit_not_written, isa::render(e.diagnostics())});
  }
  subject.contents.resize(subject.job.buffers.size());
  auto report = execute(subject, options, true, false);
  if (!report) return tl::make_unexpected(report.error());
  report->command = "lab check";
  if (run.checked && report->sim && report->sim->result.completed)
    report->reference = compared(v, run, inputs, report->sim->outputs);
  report->exit_code = exit_code_of(*report);
  std::vector<const NamedComparison*> maps;
  for (const NamedComparison& c : report->reference) maps.push_back(&c);
  return write_page(subject, options, json_report(subject, *report), report->page.get(), report->findings,
                    maps);
}

}  // namespace palladion::cli
