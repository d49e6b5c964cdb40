#include "cli/lab/lab_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/execute/execute.h"
#include "labs/references.h"
#include "report/html/error_map.h"
#include "report/html/recording.h"
#include "report/run/run_json.h"

namespace palladion::cli {
namespace {

constexpr std::string_view on_the_clock = "hardware";

// A run of the submission.
struct ShownRun {
  size_t recorded = 0;  // index of labs::LabVerdict::recorded
  labs::Case launch;
  std::string schedule;
  bool checked = true;  // with the checkers; their findings and the outputs are shown
  bool with_values = true;
};

ShownRun of_case(const labs::LabVerdict& v, size_t number, std::string schedule) {
  return {.recorded = number, .launch = v.lab->cases[number], .schedule = std::move(schedule)};
}

ShownRun chosen_run(const labs::LabVerdict& v) {
  if (const SeenFinding* shown = labs::main_finding(v))
    for (size_t i = 0; i < v.cases.size(); ++i)
      if (shown->replay == labs::replay_of(v, v.recorded[i])) return of_case(v, i, shown->schedules.front());
  for (size_t i = 0; i < v.cases.size(); ++i)
    if (!v.cases[i].ok()) return of_case(v, i, v.cases[i].worst_schedule);
  const auto missed = std::ranges::find_if(v.measures, [](const labs::MeasureVerdict& m) { return !m.ok(); });
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

RunRequest request_of(const labs::LabVerdict& v, const ShownRun& run, const LabRequest& given) {
  RunRequest request;
  request.command = "lab check";
  request.subject = {.what = KernelFileWord{v.file.filename().string(), {}},
                     .sizes = run.launch.values,
                     .arch = &labs::arch_of(*v.lab)};
  request.conditions = sim::check::conditions_named(run.schedule.empty() ? "functional" : run.schedule);
  request.machine.checks = run.checked ? sim::check::Options{} : no_checks;
  if (request.usual_conditions().schedule.kind == sim::Schedule::Kind::hardware) {
    ClockWords clock;
    clock.values = run.with_values ? sim::Values::full : sim::Values::none;
    request.machine.clock = clock.settings(*request.subject.arch).value();
  }
  request.machine.threads = host_threads(given.threads);
  request.machine.max_instructions = labs::most_instructions;
  request.findings.strict = v.lab->strict;
  request.output.report = given.report;
  request.reference = false;  // the lab's own, below
  return request;
}

std::vector<NamedComparison> compared(const labs::LabVerdict& v, const ShownRun& run,
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

Outcome<std::string> lab_page(const labs::LabVerdict& v, const LabRequest& given) {
  if (v.cases.empty())
    return tl::make_unexpected(
        Failure{Failure::Kind::not_written,
                "error: --report: no kernel was recorded, so there is nothing to show\n"});
  const ShownRun run = chosen_run(v);
  const RunRequest request = request_of(v, run, given);
  const std::vector<Array> inputs = labs::inputs_of(*v.lab, run.launch);
  Subject subject;
  subject.name = v.file.filename().string();
  subject.arch = &labs::arch_of(*v.lab);
  subject.kernel = std::make_unique<plgpu::Kernel>(v.recorded[run.recorded].kernel);
  try {
    subject.job = job_of(*subject.kernel, inputs, labs::array_names(*v.lab));
  } catch (const isa::Error& e) {
    return tl::make_unexpected(Failure{Failure::Kind::not_written, isa::render(e.diagnostics())});
  }
  subject.contents.resize(subject.job.buffers.size());
  auto report = execute(subject, request);
  if (!report) return tl::make_unexpected(report.error());
  if (run.checked && report->sim && report->sim->result.completed)
    report->reference = compared(v, run, inputs, report->sim->outputs);
  report->exit_code = exit_code_of(*report);
  std::vector<const NamedComparison*> maps;
  for (const NamedComparison& c : report->reference) maps.push_back(&c);
  return page_of(subject, request, run_json(launched(subject), *report), report->page.get(), report->findings,
                 maps);
}

}  // namespace palladion::cli
