#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "cli/execute/execute.h"
#include "cli/execute/why.h"
#include "cli/support/output.h"
#include "cli/support/term.h"
#include "isa/core/whole_error.h"
#include "isa/host/abandon.h"
#include "report/html/error_map.h"
#include "report/html/recording.h"
#include "report/run/run_trace.h"
#include "report/run/scopes.h"
#include "report/run/time_report.h"
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
  if (!device) return tl::make_unexpected(Failure{Failure::Kind::unsupported, isa::render(device.error())});
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

// A kernel without scopes has nothing to compare.
Outcome<void> check_scopes(const Subject& subject) {
  if (subject.kernel && subject.kernel->launch.profile) return {};
  const bool can = subject.spec != nullptr && std::ranges::any_of(subject.spec->settings, [](const auto& s) {
                     return std::string_view(s.name) == "profile";
                   });
  return user_error(
      fmt::format("{} records no scopes, by which both sides are compared", subject.name),
      can ? "--set profile=1" : "a kernel records them with plgpu::profile_scope and profile_space");
}

std::string title_of(const Subject& subject, const RunRequest& request) {
  std::string title = subject.name;
  for (const auto* pairs : {&request.subject.sizes, &request.subject.settings})
    for (const auto& [name, value] : *pairs) title += fmt::format(" {}={}", name, value);
  return fmt::format("{}, {}, {}", title, request.subject.arch->name, name(request.usual_conditions()));
}

// Which CTAs and cycles --trace and --report record.
traces::RecorderOptions recorder_options(const RunRequest& request) {
  return request.trace.recorder(request.machine.clock ? traces::TimeUnit::sm_cycles
                                                      : traces::TimeUnit::warp_instructions);
}

// The header of a timeline: its title, unit and clock.
traces::Header trace_header(const Subject& subject, const RunRequest& request,
                            const traces::RecorderOptions& recorded) {
  traces::Header header{
      .title = title_of(subject, request), .unit = recorded.unit, .from = recorded.window.first};
  if (request.machine.clock) header.sm_clock_mhz = request.machine.clock->parameters.sm_clock;
  return header;
}

// Null without --trace.
Outcome<std::unique_ptr<RunTrace>> open_trace(const Subject& subject, const RunRequest& request) {
  if (request.trace.file.empty()) return nullptr;
  const traces::RecorderOptions options = recorder_options(request);
  return RunTrace::open(request.trace.file, trace_header(subject, request, options),
                        request.trace.limit.value_or(traces::usual_limit), options);
}

// The timelines of the run, with scopes where the kernel records them and the clock runs.
void finish_traces(Report& report, const Subject& subject, RunTrace* trace) {
  std::optional<traces::RunScopes> scopes;
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
  report.time = time_report(subject.job, *subject.arch, subject.registers, clock->l2, clock->values, result);
  if (request.why) report.time->why = why_of(subject, report, request);
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

std::vector<NamedComparison> compare_with_recorded(const Subject& subject, const std::vector<Array>& outputs,
                                                   bool maps) {
  std::vector<NamedComparison> out;
  size_t output = 0;
  for (verify::OutputComparison& c : verify::compare_with_recorded(*subject.recorded, subject.job, outputs)) {
    while (!subject.recorded->after[output]) ++output;
    out.push_back({std::move(c)});
    if (maps)
      out.back().map =
          error_map(outputs[output], *subject.recorded->after[output], {}, out.back().comparison);
    ++output;
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
  auto trace = open_trace(subject, request);
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
  return read_scopes(request.trace.read_scopes).map([&](traces::RunScopes scopes) {
    report.device_scopes = std::move(scopes);
  });
}

bool compares_scopes(const RunRequest& request) {
  return !request.trace.read_scopes.empty() || !request.trace.write_scopes.empty() ||
         (request.command == "compare" && !request.trace.file.empty());
}

}  // namespace

CodegenQuestion::CodegenQuestion(const Subject& subject, verify::Codegen who) {
  if (subject.pair != nullptr || who == verify::Codegen::none) return;
  answer_ = std::async(std::launch::async, [&job = subject.job, &arch = *subject.arch, who] {
    return verify::examine_codegen(job, arch, who);
  });
}

Outcome<void> CodegenQuestion::take(std::vector<SeenFinding>& findings) {
  if (!answer_.valid()) return {};
  const auto found = answer_.get();
  if (!found) return tl::make_unexpected(found.error());
  verify::merge_findings(findings, *found, std::string(verify::code_generation));
  verify::sort_findings(findings);
  return {};
}

namespace {

// What the examination of the machine code has found.
std::vector<std::string> slower_than_its_cycles(std::span<const SeenFinding> findings) {
  std::vector<std::string> out;
  for (const SeenFinding& seen : findings)
    if (std::ranges::find(seen.schedules, verify::code_generation) != seen.schedules.end())
      out.push_back(fmt::format("{}: {}", seen.finding.code.name(), message_text(seen.finding)));
  return out;
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
  if (request.device.on_sim) {
    CodegenQuestion codegen(subject, request.codegen);
    if (const auto ran = run_on_sim(report, subject, request); !ran) return tl::make_unexpected(ran.error());
    if (const auto asked = codegen.take(report.findings); !asked) return tl::make_unexpected(asked.error());
    if (report.time) report.time->slower = slower_than_its_cycles(report.findings);
  }
  const bool whole =
      report.sim ? report.sim->result.completed : report.device && report.device->errors.empty();
  if (whole && request.with_values()) take_comparisons(report, subject, request);
  return report;
}

std::shared_ptr<PageRecording> page_recording(const Subject& subject, const RunRequest& request) {
  if (request.output.report.empty()) return nullptr;
  traces::RecorderOptions recorded = recorder_options(request);
  // Without a clock each cluster counts its own instructions: side by side they would mean nothing.
  if (!request.trace.ctas && !request.machine.clock) recorded.ctas = {traces::CtaChoice::Kind::ctas, 0, 0};
  return std::make_shared<PageRecording>(trace_header(subject, request, recorded), recorded);
}

}  // namespace palladion::cli
