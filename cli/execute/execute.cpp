#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "cli/execute/execute.h"
#include "cli/findings/findings_json.h"
#include "cli/html/error_map.h"
#include "cli/html/recording.h"
#include "cli/report/trace.h"
#include "cli/support/abandon.h"
#include "cli/support/files.h"
#include "cli/support/output.h"
#include "cli/support/term.h"
#include "isa/core/whole_error.h"
#include "sim/program/program.h"
#include "sim/schedule/worker_pool.h"

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

Outcome<void> run_on_device(Report& report, const Subject& subject, const Options& options) {
  if (!subject.job.objects.empty())
    return unsupported("texture and surface objects of a launch on a device",
                       "`palladion run` without `--on device` has them");
  auto device = cuda::native::Device::open();
  if (!device) return tl::make_unexpected(Failure{exit_unsupported, isa::render(device.error())});
  report.device_facts = device->facts();
  report.device = palladion::run(subject.job, *device,
                                 {.repeats = options.repeats,
                                  .limit = std::chrono::milliseconds(options.device_limit * 1000),
                                  .stop = &interrupt_flag()});
  if (report.device->still_runs) note_abandoned_work();
  if (!has_scopes(subject)) return {};
  report.device_scopes = scopes_of(*subject.kernel->launch.profile, report.device->profile, 0,
                                   device_name(*report.device_facts), subject.name);
  if (options.device_trace.empty()) return {};
  return write_scopes(options.device_trace, *report.device_scopes);
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

void print_time(Report& report, const Subject& subject, const Options& options) {
  const sim::RunResult& result = report.sim->result;
  if (!on_hardware_schedule(options) || result.clock.cycles == 0 || !result.completed) return;
  const ClockSettings settings = clock_settings(options).value();
  report.time = time_report(subject, result, settings);
  if (options.why) report.time->why = ask_why(subject, result.clock, settings, host_threads(options));
}

}  // namespace

Outcome<sim::check::Conditions> conditions_of(const Options& options) {
  if (options.schedule.empty()) return sim::check::Conditions{};
  if (const auto conditions = sim::check::conditions_named(options.schedule)) return *conditions;
  return user_error(fmt::format("there is no schedule `{}`", options.schedule),
                    "valid names: functional, hardware, seeded:N, latest, earliest; then, with commas, "
                    "resident=N, order=descending, order=random:N, fail_waits=N, elect=N, lanes=N");
}

Outcome<sim::Schedule> schedule_of(const Options& options) {
  return conditions_of(options).map([](const sim::check::Conditions& c) { return c.schedule; });
}

Outcome<void> check_run_options(const Options& o) {
  if (const auto ok = check_trace_options(o); !ok) return ok;
  if (o.on != "sim" && o.on != "device" && o.on != "both")
    return user_error(fmt::format("--on is sim, device or both, not `{}`", o.on));
  if (o.repeats < 0) return user_error("--repeats cannot be negative");
  if (const auto schedule = schedule_of(o); !schedule) return tl::make_unexpected(schedule.error());
  if (o.explore && *o.explore == 0) return user_error("--explore is at least 1: states to search");
  if (o.limit == 0) return user_error("--limit is at least 1");
  if (o.lines == 0) return user_error("--lines is at least 1");
  if (const auto checks = checks_of(o); !checks) return tl::make_unexpected(checks.error());
  return check_clock_options(o);
}

unsigned host_threads(const Options& options) {
  return options.threads != 0 ? options.threads : sim::hardware_threads();
}

std::optional<ClockSettings> clock_of(const Options& options, const sim::Schedule& schedule) {
  if (schedule.kind != sim::Schedule::Kind::hardware) return std::nullopt;
  return clock_settings(options).value();
}

sim::RunOptions run_options(const Subject& subject, const Options& options,
                            const std::optional<ClockSettings>& clock) {
  sim::RunOptions run;
  if (clock) {
    clock->apply(run);
    run.registers = subject.registers.count;
  }
  run.threads = host_threads(options);
  run.max_warp_instructions = options.max_instructions;
  run.fmad = options.fmad;
  run.stop = &interrupt_flag();
  return run;
}

MachineRun run_on_machine(const Subject& subject, Job& job, const Options& options,
                          const sim::check::Conditions& conditions, std::span<sim::Observer* const> more) {
  const uint64_t clusters = subject.job.grid.count() / std::max<uint64_t>(1, subject.job.cluster.count());
  Progress progress(subject.name, clusters);
  const std::optional<ClockSettings> clock = clock_of(options, conditions.schedule);
  sim::RunOptions run = run_options(subject, options, clock);
  conditions.apply(run);
  run.progress = [&](uint64_t done, uint64_t) { progress.update(done); };
  return verify::run_checked(job, *subject.arch, std::move(run), checks_of(options).value(), nullptr, more);
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
        isa::Diagnostic{.code = "PLD5004",
                        .message = fmt::format("kernel `{}`: its reference gives {} arrays, the kernel {}",
                                               subject.name, wanted->size(), outputs.size())});
  return compare_outputs(subject, outputs, *wanted, tolerance_of(subject), maps);
}

Outcome<Report> execute(Subject& subject, const Options& options, bool on_sim, bool on_device) {
  const auto conditions = conditions_of(options);
  if (!conditions) return tl::make_unexpected(conditions.error());
  Report report;
  report.schedule = name(*conditions);
  report.seed = options.seed;
  report.strict = options.strict;
  report.threads = host_threads(options);
  if (const auto ok = check_scopes(subject, options); !ok) return tl::make_unexpected(ok.error());
  if (on_device && replays_device(options)) {
    auto scopes = read_scopes(options.device_trace);
    if (!scopes) return tl::make_unexpected(scopes.error());
    report.device_scopes = std::move(*scopes);
    on_device = false;
  }
  if (on_device)  // first: it leaves the inputs unchanged
    if (const auto ran = run_on_device(report, subject, options); !ran)
      return tl::make_unexpected(ran.error());
  if (on_sim) {
    auto trace = RunTrace::open(subject, options, conditions->schedule);
    if (!trace) return tl::make_unexpected(trace.error());
    report.page = page_recording(subject, options, conditions->schedule);
    std::vector<sim::Observer*> observers;
    if (*trace) observers.push_back((*trace)->observer());
    if (report.page)
      observers.insert(observers.end(), {report.page->observers()[0], report.page->observers()[1]});
    MachineRun run = run_on_machine(subject, subject.job, options, *conditions, observers);
    merge_findings(report.findings, run.outcome.result.findings, report.schedule);
    sort_findings(report.findings);
    report.sim = std::move(run.outcome);
    report.watched = std::move(run.watched);
    finish_traces(report, subject, trace->get());
    print_time(report, subject, options);
  }
  const bool whole =
      (report.sim ? report.sim->result.completed : report.device && report.device->errors.empty()) &&
      options.values != "none";
  if (whole && options.reference) {
    const auto start = std::chrono::steady_clock::now();
    auto compared = compare_with_reference(subject, outputs_of(report), !options.report.empty());
    report.reference_interrupted = !compared;
    if (compared) report.reference = std::move(*compared);
    report.reference_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  if (whole && report.sim && report.device)
    report.device_against_sim =
        compare_outputs(subject, report.device->outputs, report.sim->outputs, {}, !options.report.empty());
  return report;
}

Outcome<std::optional<Suppressions>> suppressions_of(const Options& options) {
  if (options.suppress.empty()) return std::nullopt;
  auto read = read_suppressions(options.suppress);
  if (!read) return tl::make_unexpected(read.error());
  return std::optional(std::move(*read));
}

Outcome<void> write_sarif(const Subject& subject, const Options& options,
                          std::span<const SeenFinding> findings, ExitCode code) {
  if (options.sarif.empty()) return {};
  SarifRun run;
  const std::string_view command = options.command == Command::check     ? "check"
                                   : options.command == Command::compare ? "compare"
                                                                         : "run";
  run.command_line = command_line(options, command, {}, "");
  run.ptx_name = subject.ptx_name;
  run.folder = current_folder();
  run.suppressions = !options.suppress.empty();
  run.exit_code = code;
  if (const auto written = write_text(options.sarif, sarif_text(findings, run)); !written)
    return not_written(written.error());
  return {};
}

std::shared_ptr<PageRecording> page_recording(const Subject& subject, const Options& options,
                                              const sim::Schedule& schedule) {
  if (options.report.empty()) return nullptr;
  traces::RecorderOptions recorded = recorder_options(options).value();
  // Without a clock each cluster counts its own instructions: side by side they would mean nothing.
  if (options.trace_ctas.empty() && schedule.kind != sim::Schedule::Kind::hardware)
    recorded.ctas = {traces::CtaChoice::Kind::ctas, 0, 0};
  return std::make_shared<PageRecording>(trace_header(subject, options, schedule, recorded), recorded);
}

Outcome<void> write_page(const Subject& subject, const Options& options, std::string report,
                         const PageRecording* recording, std::span<const SeenFinding> findings,
                         std::span<const NamedComparison* const> comparisons) {
  if (options.report.empty()) return {};
  PageParts parts;
  if (recording != nullptr) parts = recording->parts();
  parts.title = subject.name;
  parts.report = std::move(report);
  std::vector<const sim::Finding*> named;
  for (const SeenFinding& seen : findings) named.push_back(&seen.finding);
  json::array maps;
  for (const NamedComparison* c : comparisons)
    if (!c->map.empty()) maps.push_back(json::object{{"output", c->output}, {"map", c->map}});
  append(parts.more, {{"folder", current_folder()},
                      {"sources", sources_json(subject, parts.recorded, named)},
                      {"chip", chip_json(*subject.arch, options)},
                      {"error_maps", std::move(maps)}});
  const auto written = write_text(options.report, page_text(parts));
  return written ? Outcome<void>{} : not_written(written.error());
}

namespace {

Outcome<void> write_run_page(const Subject& subject, const Report& report, const Options& options) {
  if (options.report.empty()) return {};
  std::vector<const NamedComparison*> comparisons;
  for (const auto* all : {&report.reference, &report.device_against_sim})
    for (const NamedComparison& c : *all) comparisons.push_back(&c);
  return write_page(subject, options, json_report(subject, report), report.page.get(), report.findings,
                    comparisons);
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

Outcome<ExitCode> deliver(const Subject& subject, Report& report, const Options& options) {
  report.exit_code = exit_code_of(report);
  print_report(subject, report, options);
  Deliveries deliveries;
  write_outputs(subject, report, deliveries);
  deliveries.take(write_sarif(subject, options, report.findings, report.exit_code));
  deliveries.take(write_json(options, [&] { return json_report(subject, report); }));
  deliveries.take(write_run_page(subject, report, options));
  return deliveries.code(report.exit_code);
}

}  // namespace palladion::cli
