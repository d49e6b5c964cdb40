#include "cli/report/report.h"
#include "cli/support/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cli/support/term.h"
#include "cuda/native/codes.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

ExitCode code_of_diagnostics(const isa::Diagnostics& diagnostics) {
  const bool unsupported_only = std::ranges::none_of(
      diagnostics, [](const isa::Diagnostic& d) { return d.severity == isa::Severity::error; });
  return unsupported_only ? exit_unsupported : exit_user_error;
}

ExitCode code_of_device(const isa::Diagnostics& errors) {
  using enum cuda::native::Code;
  const auto is = [&](auto... codes) { return ((errors.front().code == codes) || ...); };
  if (is(ptx_refused, bad_launch, bad_tensor_map)) return exit_user_error;
  if (is(kernel_failed, kernel_timed_out)) return exit_findings;
  return exit_unsupported;  // no driver, no device, a driver that fails
}

ExitCode code_of_sim(const Report& report) {
  const sim::RunResult& result = report.sim->result;
  if (!result.errors.empty()) return code_of_diagnostics(result.errors);
  if (was_interrupted(report)) return exit_interrupted;
  if (const ExitCode code = code_of_findings(report.findings, report.strict); code != exit_clean) return code;
  if (!result.completed) return exit_findings;
  return report.watched && !report.watched->coverage.incomplete.empty() ? exit_unsupported : exit_clean;
}

std::string title(const Subject& subject) {
  std::vector<std::string> parts;
  if (subject.pair != nullptr)
    return fmt::format("{}{}: {}\n", subject.name,
                       subject.name.ends_with(":good") ? ", the right twin of" : "", subject.pair->title);
  if (subject.recorded)
    return fmt::format("{}, entry {}, captured on {}\n", subject.name, subject.job.entry,
                       subject.recorded->manifest.chip);
  if (subject.is_foreign()) return fmt::format("{}, entry {}\n", subject.name, subject.job.entry);
  for (const kernels::SizeParam& p : subject.spec->sizes)
    parts.push_back(fmt::format("{}={}", p.name, subject.choice.size(p.name)));
  for (const kernels::Setting& s : subject.spec->settings)
    parts.push_back(fmt::format("{}={}", s.name, subject.choice.word(s.name)));
  return fmt::format("{}  {}\n", subject.name, fmt::join(parts, " "));
}

std::string launch_text(const Subject& subject) {
  const Job& job = subject.job;
  std::string text = fmt::format("grid {}, block {}", dims_text(job.grid), dims_text(job.block));
  if (job.cluster.count() > 1) text += fmt::format(", cluster {}", dims_text(job.cluster));
  if (job.dynamic_shared != 0) text += fmt::format(", {} of shared memory", human_bytes(job.dynamic_shared));
  return text + fmt::format(", on {}", subject.arch->name);
}

size_t name_width(const Subject& subject) {
  size_t width = 0;
  for (const Buffer& b : subject.job.buffers)
    if (b.role != Role::scratch && b.role != Role::profile) width = std::max(width, b.name.size());
  return width;
}

std::string ran_text(const Report& report) {
  const sim::RunResult& r = report.sim->result;
  std::string text = fmt::format("{} warp instructions, {} CTA{} in {} ({} thread{}, schedule {})",
                                 human_count(double(r.instructions)), r.ctas, r.ctas == 1 ? "" : "s",
                                 human_seconds(report.sim->seconds), report.threads,
                                 report.threads == 1 ? "" : "s", report.schedule);
  if (r.interrupted) text += "; interrupted";
  return text;
}

std::string device_text(const Report& report) {
  const DeviceOutcome& d = *report.device;
  std::string text = report.device_facts ? report.device_facts->name : "device";
  if (d.timing)
    text += fmt::format(": {:.1f} us, median of {} ({:.1f} to {:.1f})", d.timing->median_us,
                        d.timing->samples_us.size(), d.timing->min_us, d.timing->max_us);
  text += fmt::format(", {} registers", d.attributes.registers);
  if (d.attributes.local_bytes != 0)
    text += fmt::format(", {} bytes of stack and spills a thread", d.attributes.local_bytes);
  return text;
}

void print_outputs(const Subject& subject, const Report& report) {
  if (!computes_outputs(report)) {
    print_out(row("out", "not computed, not compared: --values none is for the time alone"));
    return;
  }
  const auto& outputs = outputs_of(report);
  size_t next = 0;
  const bool whole = !report.sim || report.sim->result.completed;
  for (size_t i = 0; i < subject.job.buffers.size() && next < outputs.size(); ++i) {
    if (!subject.job.is_output(i)) continue;
    const Array& array = outputs[next++];
    const std::string contents =
        whole ? fmt::format("hash {}", hash_text(palladion::hash(array))) : "incomplete";
    const std::string text = fmt::format("{:<{}}  {:<16} {}", subject.job.buffers[i].name,
                                         name_width(subject), describe(array.type), contents);
    print_out(row("out", text));
  }
}

void print_comparisons(std::string_view label, const std::vector<NamedComparison>& comparisons, bool color) {
  for (const NamedComparison& c : comparisons) {
    const Style style = c.comparison.ok() ? Style::green : Style::red;
    const std::string name = comparisons.size() > 1 ? c.output + ": " : "";
    print_out(row(label, paint(name + describe_comparison(c), style, color)));
  }
}

std::string findings_row(const Report& report) {
  const FindingCounts n = count_findings(report.findings);
  std::string text = n.reported() == 0 ? "none" : fmt::format("{}, see above", n.reported());
  return n.suppressed == 0 ? text : fmt::format("{}; {} suppressed", text, n.suppressed);
}

// The simulated time beside the device's.
std::string against_device(const Report& report) {
  const double simulated = report.time->clock.microseconds(), measured = report.device->timing->median_us;
  return fmt::format("simulated {:.4g} us, device {:.4g} us: {:+.1f} %", simulated, measured,
                     (simulated / measured - 1) * 100);
}

void print_time(const Subject& subject, const Report& report, const Options& options, bool color) {
  const TimeReport& time = *report.time;
  print_out(time_rows(time));
  if (report.device && report.device->timing) print_out(row("", against_device(report)));
  TimeView view{
      .folder = current_folder(), .ptx_name = subject.ptx_name, .lines = options.lines, .color = color};
  print_out(where_text(time, view));
  if (time.why) print_out(why_text(*time.why, color));
}

void print_checks(const Report& report, bool color) {
  print_out(row("findings", findings_row(report)));
  if (report.watched) print_out(row("coverage", coverage_text(report.watched->coverage)));
  if (report.watched || was_interrupted(report))
    print_out(row("verdict", verdict_text(verdict_of(report), color)));
}

}  // namespace

std::string row(std::string_view label, std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, "\n")) {
    out += fmt::format("  {:<11} {}\n", label, line);
    label = "";
  }
  return out;
}

std::string hash_text(uint64_t hash) { return fmt::format("{:016x}", hash); }

std::string dims_text(const isa::Dim3& d) {
  if (d.z != 1) return fmt::format("{}x{}x{}", d.x, d.y, d.z);
  return d.y != 1 ? fmt::format("{}x{}", d.x, d.y) : fmt::format("{}", d.x);
}

std::string describe_subject(const Subject& subject) {
  std::string text = title(subject) + row("launch", launch_text(subject));
  const size_t width = name_width(subject);
  for (size_t i = 0; i < subject.job.buffers.size(); ++i) {
    const Buffer& b = subject.job.buffers[i];
    if (b.role != Role::in && b.role != Role::inout) continue;
    text += row("in", fmt::format("{:<{}}  {:<16} {}", b.name, width, describe(b.type), subject.contents[i]));
  }
  return text;
}

std::string describe_comparison(const verify::OutputComparison& named) {
  const Comparison& c = named.comparison;
  if (!c.comparable) return "another type or shape";
  if (c.bits_equal) return fmt::format("equal bit by bit ({} elements)", c.elements);
  std::string text;
  if (!named.tolerance.exact())
    text = fmt::format("{} the tolerance (rel {:.3g}, abs {:.3g}): ", c.ok() ? "within" : "outside",
                       named.tolerance.relative, named.tolerance.absolute);
  if (!named.tolerance.exact() && !c.ok()) text += fmt::format("{} elements; ", c.outside);
  text += fmt::format("{} of {} elements differ", c.differing, c.elements);
  if (c.nan_against_number != c.differing) {
    // More are no rounding any more, and the number says nothing to people.
    constexpr uint64_t most_ulps = 1 << 16;
    if (c.max_ulps <= most_ulps)
      text += fmt::format(", at most {} ulp{}, abs", c.max_ulps, c.max_ulps == 1 ? "" : "s");
    else
      text += ", at most abs";
    text += fmt::format(" {:.3g}, rel {:.3g}", c.max_abs, c.max_rel);
  }
  if (c.nan_against_number != 0) text += fmt::format(", {} NaN against a number", c.nan_against_number);
  if (c.first)
    text += fmt::format("\nfirst at [{}]: {}, wanted {}", fmt::join(c.first->index, ","),
                        describe_element(named.dtype, c.first->got, c.first->got_bits),
                        describe_element(named.dtype, c.first->wanted, c.first->wanted_bits));
  if (!named.note.empty()) text += "\n" + named.note;
  return text;
}

std::string current_folder() {
  std::error_code none;
  return std::filesystem::current_path(none).string();
}

FindingView view_of(const Subject& subject, const Options& options, std::FILE* stream) {
  FindingView view;
  view.ptx_name = subject.ptx_name;
  view.ptx = subject.job.ptx;
  view.folder = current_folder();
  view.color = wants_color(stream);
  view.limit = options.limit;
  return view;
}

std::string verdict_text(const Verdict& verdict, bool color) {
  using Word = Verdict::Word;
  const Style style = verdict.word == Word::clean    ? Style::green
                      : verdict.word == Word::errors ? Style::red
                                                     : Style::yellow;
  std::string text(name(verdict.word));
  if (!verdict.reason.empty()) text += fmt::format(" ({})", verdict.reason);
  return paint(text, style, color);
}

const std::vector<Array>& outputs_of(const Report& report) {
  static const std::vector<Array> none;
  if (report.sim) return report.sim->outputs;
  return report.device ? report.device->outputs : none;
}

bool computes_outputs(const Report& report) {
  return !report.time || report.time->values == sim::Values::full;
}

bool was_interrupted(const Report& report) {
  const bool asking_was_ended = report.time && report.time->why && report.time->why->interrupted;
  return report.reference_interrupted || asking_was_ended || (report.sim && report.sim->result.interrupted);
}

Verdict verdict_of(const Report& report) {
  if (was_interrupted(report)) return interrupted_verdict(report.findings);
  const Watched* const watched = report.watched ? &*report.watched : nullptr;
  return verdict_of(report.findings, incomplete_reasons(report.sim->result, watched));
}

ExitCode exit_code_of(const Report& report) {
  if (report.sim)
    if (const ExitCode code = code_of_sim(report); code != exit_clean) return code;
  if (report.device && !report.device->errors.empty()) return code_of_device(report.device->errors);
  const auto bad = [](const NamedComparison& c) { return !c.comparison.ok(); };
  const bool differs =
      std::ranges::any_of(report.reference, bad) || std::ranges::any_of(report.device_against_sim, bad);
  return differs ? exit_findings : exit_clean;
}

void print_report(const Subject& subject, const Report& report, const Options& options) {
  const bool color = wants_color(stdout);
  print_out(describe_subject(subject));
  if (report.sim) {
    write_out(report.sim->result.printed);
    print_err(isa::render(report.sim->result.errors, subject.job.ptx));
    print_err(fmt::format("{}{}", findings_text(report.findings, view_of(subject, options, stderr)),
                          report.unused_suppressions));
    if (!report.sim->result.errors.empty()) return;
    print_out(row("sim", ran_text(report)));
  }
  if (report.device) {
    print_err(isa::render(report.device->errors, subject.job.ptx));
    if (report.device->errors.empty()) print_out(row("device", device_text(report)));
  }
  print_outputs(subject, report);
  print_comparisons(subject.recorded ? "device" : "reference", report.reference, color);
  if (subject.spec != nullptr && !subject.spec->reference && report.sim && report.sim->result.completed)
    print_out(row("reference", "no reference: outputs are not compared"));
  if (report.reference_interrupted) print_out(row("reference", "interrupted, not compared"));
  print_comparisons("device", report.device_against_sim, color);
  if (report.trace) {
    print_out(row("trace", describe(*report.trace)));
    for (const std::string_view line : split(report.trace->scopes, "\n"))
      if (!line.empty()) print_out(row("", line));
    print_err(warning(*report.trace));
  }
  if (report.sim) print_checks(report, color);
  if (report.time) print_time(subject, report, options, color);
}

}  // namespace palladion::cli
