// What a report leaves: its text, the files that were asked for, the exit code.
#include <fmt/format.h>

#include "cli/execute/execute.h"
#include "cli/support/output.h"
#include "cli/support/term.h"
#include "report/html/run_page.h"
#include "report/json/findings_json.h"
#include "report/run/run_json.h"

namespace palladion::cli {

FindingView view_of(const Subject& subject, size_t limit, std::FILE* stream) {
  FindingView view;
  view.ptx_name = subject.ptx_name;
  view.ptx = subject.job.ptx;
  view.folder = current_folder();
  view.color = wants_color(stream);
  view.limit = limit;
  view.source_line = [&subject](const std::string& file, uint32_t line) {
    return shows_source(subject, file) ? read_source_line(file, line) : std::string();
  };
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
  if (const auto written = write_text(request.output.sarif, sarif_text(findings_json(findings), run));
      !written)
    return not_written(written.error());
  return {};
}

std::string page_of(const Subject& subject, const RunRequest& request, std::string report,
                    const PageRecording* recording, std::span<const SeenFinding> findings,
                    std::span<const NamedComparison* const> comparisons) {
  const auto read = [&](const std::string& file, uint64_t most) -> std::optional<std::string> {
    if (!shows_source(subject, file)) return std::nullopt;
    auto text = read_text(file, most);
    return text ? std::optional(std::move(*text)) : std::nullopt;
  };
  const ClockSettings* const clock = request.clock();
  return run_page({.launched = launched(subject),
                   .report = std::move(report),
                   .recording = recording,
                   .findings = findings,
                   .comparisons = comparisons,
                   .clock = clock != nullptr ? &clock->parameters : nullptr,
                   .folder = current_folder(),
                   .read_source = read});
}

Outcome<void> write_page(const Subject& subject, const RunRequest& request, std::string report,
                         const PageRecording* recording, std::span<const SeenFinding> findings,
                         std::span<const NamedComparison* const> comparisons) {
  return write_if_named(request.output.report, [&] {
    return page_of(subject, request, std::move(report), recording, findings, comparisons);
  });
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
  print_parts(run_text(launched(subject), report, view));
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

void print_parts(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    if (part.to == Part::To::out) print_out(part.text);
    if (part.to == Part::To::err) print_err(part.text);
    if (part.to == Part::To::out_as_is) write_out(part.text);
  }
}

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
