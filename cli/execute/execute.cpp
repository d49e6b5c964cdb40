#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "cli/execute/execute.h"
#include "cli/runs/time_report.h"
#include "cli/runs/trace.h"
#include "cli/support/abandon.h"
#include "cli/support/output.h"
#include "cli/support/term.h"
#include "isa/core/whole_error.h"
#include "report/html/error_map.h"
#include "report/html/run_page.h"
#include "report/json/findings_json.h"
#include "report/run/run_json.h"
#include "report/run/run_text.h"
#include "sim/program/program.h"
#include "verify/arrays/codes.h"

namespace palladion::cli {
namespace {

// Outputs are compared bit by bit where the kernel computes exactly what its reference does.
Tolerance tolerance_of(const Subject& subject) {
  return subject.spec->tolerance ? subject.spec->tolerance(subject.choice) : Tolerance{};
}

std::vector<Array> inputs_of(const Subject& subject) {
  std::vector<Array> inputs;
  for (size_t i = 0; i < subject.kernel->launch.inputs.size(); ++i)
    inputs.push_back(subject.job.buffers[i].initial);
  return inputs;
}

bool has_scopes(const Subject& subject) {
  return subject.kernel != nullptr && subject.kernel->launch.profile.has_value();
}

std::string device_name(const cuda::native::DeviceFacts& facts) {
  return fmt::format("{}, driver {}", facts.name, facts.driver_version);
}

Outcome<void> run_on_device(Report& report, const Subject& subject, const RunRequest& request) {
  if (!subject.job.objects.empty())
    return unsupported("texture and surface objects of a launch on a device",
                       "`palladion run` without `--on device` has them");
  auto device = cuda::native::Device::open();
  if (!device) return tl::make_unexpected(Failure{exit_unsupported, isa::render(device.error())});
  report.device_facts = device->facts();
  report.device = palladion::run(
      subject.job, *device,
      {.repeats = request.device.repeats, .limit = request.device.limit, .stop = &interrupt_flag()});
  if (report.device->still_runs) note_abandoned_work();
  if (!has_scopes(subject)) return {};
  report.device_scopes = scopes_of(*subject.kernel->launch.profile, report.device->profile, 0,
                                   device_name(*report.device_facts), subject.name);
  if (request.trace.write_scopes.empty()) return {};
  return write_scopes(request.trace.write_scopes, *report.device_scopes);
}

// The timelines of the run, with scopes where the kernel records them and the clock runs.
void finish_traces(Report& report, const Subject& subject, RunTrace* trace) {
  std::optional<RunScopes> scopes;
  const double mhz = report.sim->result.clock.sm_clock_mhz;
  if (has_scopes(subject) && mhz > 0)
    scopes = scopes_of(*subject.kernel->launch.profile, report.sim->profile, mhz, "simulator", subject.name);
  if (trace != nullptr) {
    trace->add_scopes(scopes ? &*scopes : nullptr, report.device_scopes ? &*report.device_scopes : nullptr);
    report.trace = trace->finish();
  }
  if (report.page != nullptr) report.page->finish(scopes ? &*scopes : nullptr);
}

void take_time(Report& report, const Subject& subject, const RunRequest& request) {
  const sim::RunResult& result = report.sim->result;
  const ClockSettings* const clock = request.clock();
  if (clock == nullptr || result.clock.cycles == 0 || !result.completed) return;
  report.time = time_report(subject, result, *clock);
  if (request.why) report.time->why = ask_why(subject, result.clock, *clock, request.machine.threads);
}

}  // namespace

sim::RunOptions run_options(const Subject& subject, const MachineRequest& request,
                            const ClockSettings* clock) {
  sim::RunOptions run;
  if (clock != nullptr) {
    clock->apply(run);
    run.registers = subject.registers.count;
  }
  run.threads = request.threads;
  run.max_warp_instructions = request.max_instructions;
  run.fmad = request.fmad;
  run.stop = &interrupt_flag();
  return run;
}

MachineRun run_on_machine(const Subject& subject, Job& job, const MachineRequest& request,
                          const sim::check::Conditions& conditions, std::span<sim::Observer* const> more) {
  const uint64_t clusters = subject.job.grid.count() / std::max<uint64_t>(1, subject.job.cluster.count());
  Progress progress(subject.name, clusters);
  const bool on_clock = conditions.schedule.kind == sim::Schedule::Kind::hardware;
  sim::RunOptions run = run_options(subject, request, on_clock ? &*request.clock : nullptr);
  conditions.apply(run);
  run.progress = [&](uint64_t done, uint64_t) { progress.update(done); };
  return verify::run_checked(job, *subject.arch, std::move(run), request.checks, nullptr, more);
}

std::vector<NamedComparison> compare_outputs(const Subject& subject, const std::vector<Array>& got,
                                             const std::vector<Array>& wanted, Tolerance tolerance,
                                             bool maps) {
  std::vector<NamedComparison> out;
  for (verify::OutputComparison& c : verify::compare_outputs(subject.job, got, wanted, tolerance)) {
    const size_t i = out.size();
    out.push_back({std::move(c)});
    if (maps) out.back().map = error_map(got[i], wanted[i], tolerance, out.back().comparison);
  }
  return out;
}

namespace {

// Every byte of every buffer against what the device left.
std::vector<NamedComparison> compare_with_recorded(const Subject& subject, const std::vector<Array>& outputs,
                                                   bool maps) {
  std::vector<NamedComparison> out;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::optional<Array>& wanted = subject.recorded->after[i];
    if (!wanted) continue;
    NamedComparison c{{subject.job.buffers[i].name, pl::u8, {}, palladion::compare(outputs[i], *wanted), {}}};
    if (maps) c.map = error_map(outputs[i], *wanted, {}, c.comparison);
    if (c.comparison.first) {
      const auto at = static_cast<size_t>(c.comparison.first->index.front());
      c.note = fmt::format("got    {}\nwanted {}", guesses(outputs[i].bytes, at), guesses(wanted->bytes, at));
    }
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace

std::optional<std::vector<NamedComparison>> compare_with_reference(const Subject& subject,
                                                                   const std::vector<Array>& outputs,
                                                                   bool maps) {
  if (subject.recorded) return compare_with_recorded(subject, outputs, maps);
  if (subject.spec == nullptr || !subject.spec->reference) return std::vector<NamedComparison>();
  const auto wanted = unless_interrupted([reference = subject.spec->reference, choice = subject.choice,
                                          inputs = inputs_of(subject)] { return reference(choice, inputs); });
  if (!wanted) return std::nullopt;
  if (wanted->size() != outputs.size())
    throw isa::WholeError(
        isa::Diagnostic{.code = LaunchCode::bad_description,
                        .message = fmt::format("kernel `{}`: its reference gives {} arrays, the kernel {}",
                                               subject.name, wanted->size(), outputs.size())});
  return compare_outputs(subject, outputs, *wanted, tolerance_of(subject), maps);
}

namespace {

// A timeline and a page are recorded of it where they were asked for.
Outcome<void> run_on_sim(Report& report, Subject& subject, const RunRequest& request) {
  auto trace = RunTrace::open(subject, request);
  if (!trace) return tl::make_unexpected(trace.error());
  report.page = page_recording(subject, request);
  std::vector<sim::Observer*> observers;
  if (*trace) observers.push_back((*trace)->observer());
  if (report.page)
    observers.insert(observers.end(), {report.page->observers()[0], report.page->observers()[1]});
  MachineRun run =
      run_on_machine(subject, subject.job, request.machine, request.usual_conditions(), observers);
  merge_findings(report.findings, run.outcome.result.findings, report.schedule);
  sort_findings(report.findings);
  report.sim = std::move(run.outcome);
  report.watched = std::move(run.watched);
  finish_traces(report, subject, trace->get());
  take_time(report, subject, request);
  return {};
}

void take_comparisons(Report& report, const Subject& subject, const RunRequest& request) {
  const bool maps = !request.output.report.empty();
  if (request.reference) {
    const auto start = std::chrono::steady_clock::now();
    auto compared = compare_with_reference(subject, outputs_of(report), maps);
    report.reference_interrupted = !compared;
    if (compared) report.reference = std::move(*compared);
    report.reference_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  if (report.sim && report.device)
    report.device_against_sim =
        compare_outputs(subject, report.device->outputs, report.sim->outputs, {}, maps);
}

// The scopes of a device from a file, or what a device leaves.
Outcome<void> take_device_side(Report& report, const Subject& subject, const RunRequest& request) {
  if (request.trace.read_scopes.empty()) return run_on_device(report, subject, request);
  return read_scopes(request.trace.read_scopes).map([&](RunScopes scopes) {
    report.device_scopes = std::move(scopes);
  });
}

bool compares_scopes(const RunRequest& request) {
  return !request.trace.read_scopes.empty() || !request.trace.write_scopes.empty() ||
         (request.command == "compare" && !request.trace.file.empty());
}

}  // namespace

Outcome<Report> execute(Subject& subject, const RunRequest& request) {
  Report report;
  report.command = request.command;
  report.schedule = name(request.usual_conditions());
  report.seed = request.subject.seed;
  report.strict = request.findings.strict;
  report.threads = request.machine.threads;
  if (compares_scopes(request))
    if (const auto ok = check_scopes(subject); !ok) return tl::make_unexpected(ok.error());
  if (request.device.on_device)  // first: it leaves the inputs unchanged
    if (const auto ran = take_device_side(report, subject, request); !ran)
      return tl::make_unexpected(ran.error());
  if (request.device.on_sim)
    if (const auto ran = run_on_sim(report, subject, request); !ran) return tl::make_unexpected(ran.error());
  const bool whole =
      report.sim ? report.sim->result.completed : report.device && report.device->errors.empty();
  if (whole && request.with_values()) take_comparisons(report, subject, request);
  return report;
}

FindingView view_of(const Subject& subject, size_t limit, std::FILE* stream) {
  FindingView view;
  view.ptx_name = subject.ptx_name;
  view.ptx = subject.job.ptx;
  view.folder = current_folder();
  view.color = wants_color(stream);
  view.limit = limit;
  return view;
}

Outcome<void> write_sarif(const Subject& subject, const RunRequest& request,
                          std::span<const SeenFinding> findings, ExitCode code) {
  if (request.output.sarif.empty()) return {};
  SarifRun run;
  run.command_line = command_line(request.words, request.command, {}, "");
  run.ptx_name = subject.ptx_name;
  run.folder = current_folder();
  run.suppressions = request.findings.suppressions.has_value();
  run.exit_code = code;
  if (const auto written = write_text(request.output.sarif, sarif_text(findings, run)); !written)
    return not_written(written.error());
  return {};
}

std::shared_ptr<PageRecording> page_recording(const Subject& subject, const RunRequest& request) {
  if (request.output.report.empty()) return nullptr;
  traces::RecorderOptions recorded = recorder_options(request);
  // Without a clock each cluster counts its own instructions: side by side they would mean nothing.
  if (!request.trace.ctas && !request.machine.clock) recorded.ctas = {traces::CtaChoice::Kind::ctas, 0, 0};
  return std::make_shared<PageRecording>(trace_header(subject, request, recorded), recorded);
}

Outcome<void> write_page(const Subject& subject, const RunRequest& request, std::string report,
                         const PageRecording* recording, std::span<const SeenFinding> findings,
                         std::span<const NamedComparison* const> comparisons) {
  if (request.output.report.empty()) return {};
  const auto read = [](const std::string& file, uint64_t most) -> std::optional<std::string> {
    auto text = read_text(file, most);
    return text ? std::optional(std::move(*text)) : std::nullopt;
  };
  const ClockSettings* const clock = request.clock();
  const auto written =
      write_text(request.output.report, run_page({.launched = launched(subject),
                                                  .report = std::move(report),
                                                  .recording = recording,
                                                  .findings = findings,
                                                  .comparisons = comparisons,
                                                  .clock = clock != nullptr ? &clock->parameters : nullptr,
                                                  .folder = current_folder(),
                                                  .read_source = read}));
  return written ? Outcome<void>{} : not_written(written.error());
}

namespace {

Outcome<void> write_run_page(const Subject& subject, const Report& report, const RunRequest& request) {
  if (request.output.report.empty()) return {};
  std::vector<const NamedComparison*> comparisons;
  for (const auto* all : {&report.reference, &report.device_against_sim})
    for (const NamedComparison& c : *all) comparisons.push_back(&c);
  return write_page(subject, request, run_json(launched(subject), report), report.page.get(), report.findings,
                    comparisons);
}

void print_run(const Subject& subject, const Report& report, const RunRequest& request) {
  const RunView view{.findings = view_of(subject, request.findings.limit, stderr),
                     .lines = request.lines,
                     .color = wants_color(stdout)};
  for (const Part& part : run_text(launched(subject), report, view)) {
    if (part.to == Part::To::out) print_out(part.text);
    if (part.to == Part::To::err) print_err(part.text);
    if (part.to == Part::To::out_as_is) write_out(part.text);
  }
}

// What was computed to the end: half an output under a final name would be taken for one.
void write_outputs(const Subject& subject, Report& report, Deliveries& deliveries) {
  const auto& outputs = outputs_of(report);
  const bool whole = !report.sim || report.sim->result.completed;
  size_t next = 0;
  for (size_t i = 0; i < subject.job.buffers.size() && next < outputs.size(); ++i) {
    if (!subject.job.is_output(i)) continue;
    const Array& array = outputs[next++];
    const auto file = subject.out_files.find(subject.job.buffers[i].name);
    if (file == subject.out_files.end()) continue;
    const auto& [name, path] = *file;
    if (!whole) {
      print_out(row("not written", fmt::format("{} to {}: the run did not reach its end", name, path)));
    } else if (deliveries.take(write_array(path, array))) {
      print_out(row("written", fmt::format("{} to {}", name, path)));
      report.written.push_back(*file);
    }
  }
}

}  // namespace

bool Deliveries::take(const Outcome<void>& written) {
  if (written) return true;
  print_err(written.error().text);
  failed_ = true;
  return false;
}

void Deliveries::take_page(const Outcome<void>& written, const std::string& file) {
  if (take(written) && !file.empty()) print_out(row("report", file));
}

Outcome<ExitCode> deliver(const Subject& subject, Report& report, const RunRequest& request) {
  const ExitCode code = exit_code_of(report);
  report.exit_code = code;
  print_run(subject, report, request);
  Deliveries deliveries;
  write_outputs(subject, report, deliveries);
  deliveries.take(write_sarif(subject, request, report.findings, code));
  deliveries.take(write_if_named(request.output.json, [&] { return run_json(launched(subject), report); }));
  deliveries.take_page(write_run_page(subject, report, request), request.output.report);
  return deliveries.code(code);
}

}  // namespace palladion::cli
