#include "report/run/run_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/run/time_text.h"
#include "report/text/numbers.h"
#include "report/text/paint.h"
#include "verify/arrays/words.h"

namespace palladion::report {
namespace {

using Reference = Launched::Reference;

std::string launch_text(const Launched& launched) {
  const Job& job = *launched.job;
  std::string text = fmt::format("grid {}, block {}", dims_text(job.grid), dims_text(job.block));
  if (job.cluster.count() > 1) text += fmt::format(", cluster {}", dims_text(job.cluster));
  if (job.dynamic_shared != 0) text += fmt::format(", {} of shared memory", human_bytes(job.dynamic_shared));
  return text + fmt::format(", on {}", launched.arch->name);
}

size_t name_width(const Job& job) {
  size_t width = 0;
  for (const Buffer& b : job.buffers)
    if (b.role != Role::scratch && b.role != Role::profile) width = std::max(width, b.name.size());
  return width;
}

// "f16[512,256]": the words of --arg and of .npy files.
std::string type_text(const pl::ShapeDtype& type) {
  std::string name(pl::name(type.dtype));
  if (type.dtype == pl::DType::bool_) name = "pred";
  if (pl::is_signed(type.dtype)) name[0] = 'i';
  return fmt::format("{}[{}]", name, fmt::join(type.shape, ","));
}

std::string ran_text(const Report& report) {
  const sim::RunResult& r = report.sim->result;
  std::string text =
      fmt::format("{} warp instructions, {} in {} ({}, schedule {})", human_count(double(r.instructions)),
                  plural(r.ctas, "CTA"), human_seconds(report.sim->seconds), plural(report.threads, "thread"),
                  report.schedule);
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

std::string outputs_text(const Job& job, const Report& report) {
  if (!computes_outputs(report))
    return row("out", "not computed, not compared: --values none is for the time alone");
  const auto& outputs = outputs_of(report);
  std::string text;
  size_t next = 0;
  const bool whole = !report.sim || report.sim->result.completed;
  for (size_t i = 0; i < job.buffers.size() && next < outputs.size(); ++i) {
    if (!job.is_output(i)) continue;
    const Array& array = outputs[next++];
    const std::string contents =
        whole ? fmt::format("hash {}", hash_text(palladion::hash(array))) : "incomplete";
    text += row("out", fmt::format("{:<{}}  {:<16} {}", job.buffers[i].name, name_width(job),
                                   type_text(array.type), contents));
  }
  return text;
}

std::string comparisons_text(std::string_view label, const std::vector<NamedComparison>& comparisons,
                             bool color) {
  std::string text;
  for (const NamedComparison& c : comparisons) {
    const Style style = c.comparison.ok() ? Style::green : Style::red;
    const std::string name = comparisons.size() > 1 ? c.output + ": " : "";
    text += row(label, paint(name + describe_comparison(c), style, color));
  }
  return text;
}

std::string compared_text(const Launched& launched, const Report& report, bool color) {
  std::string text = comparisons_text(launched.reference == Reference::device ? "device" : "reference",
                                      report.reference, color);
  if (launched.reference == Reference::missing && report.sim && report.sim->result.completed)
    text += row("reference", "no reference: outputs are not compared");
  if (report.reference_interrupted) text += row("reference", "interrupted, not compared");
  return text + comparisons_text("device", report.device_against_sim, color);
}

// "x.pftrace: 2315 events of 1 cluster, 56 KiB", then the scopes of both sides.
std::string trace_text(const TraceReport& t) {
  std::string text = row("trace", fmt::format("{}: {} events of {}, {}", t.file, t.events,
                                              plural(t.clusters, "cluster"), human_bytes(t.bytes)));
  for (const std::string_view line : split(t.scopes, "\n"))
    if (!line.empty()) text += row("", line);
  return text;
}

// "warning: ..." when the trace lacks something.
std::string trace_warning(const TraceReport& t) {
  if (!t.cut.empty())
    return fmt::format(
        "warning: the trace ends at {} {}, before the run: {}\n  help: --trace-ctas and --trace-cycles "
        "record less, --trace-limit allows more\n",
        t.cut_at, t.unit, t.cut);
  if (t.scopes_missing)
    return "warning: the kernel's scopes are not in the trace: its buffer was not written (--values none, or "
           "the run did not end)\n";
  if (t.lost != 0)
    return fmt::format("warning: {} events of scopes found no room; a larger profile_space has it\n", t.lost);
  if (t.events == 0) return "warning: the trace is empty: no cluster and no time of the run was chosen\n";
  return {};
}

// The simulated time beside the device's.
std::string against_device(const Report& report) {
  const double simulated = report.time->clock.microseconds(), measured = report.device->timing->median_us;
  return fmt::format("simulated {:.4g} us, device {:.4g} us: {:+.1f} %", simulated, measured,
                     (simulated / measured - 1) * 100);
}

std::string time_text(const Launched& launched, const Report& report, const RunView& view) {
  const TimeReport& time = *report.time;
  std::string text = time_rows(time);
  if (report.device && report.device->timing) text += row("", against_device(report));
  const TimeView of_time{.source_line = view.findings.source_line,
                         .folder = view.findings.folder,
                         .ptx_name = launched.ptx_name,
                         .lines = view.lines,
                         .color = view.color};
  text += where_text(time, of_time);
  return time.why ? text + why_text(time, of_time) : text;
}

std::string checks_text(const Report& report, bool color) {
  const bool checked = report.watched || !report.findings.empty();
  std::string text = row("findings", checked ? findings_count_text(report.findings) : "not checked");
  if (report.watched) text += row("coverage", coverage_text(report.watched->coverage));
  if (report.watched || was_interrupted(report))
    text += row("verdict", verdict_text(verdict_of(report), color));
  return text;
}

}  // namespace

std::string dims_text(const isa::Dim3& d) {
  if (d.z != 1) return fmt::format("{}x{}x{}", d.x, d.y, d.z);
  return d.y != 1 ? fmt::format("{}x{}", d.x, d.y) : fmt::format("{}", d.x);
}

std::string launched_text(const Launched& launched) {
  const Job& job = *launched.job;
  std::string text = launched.title + "\n";
  if (!launched.settings_from.empty()) text += row("settings", launched.settings_from);
  text += row("launch", launch_text(launched));
  for (size_t i = 0; i < job.buffers.size(); ++i) {
    const Buffer& b = job.buffers[i];
    if (b.role != Role::in && b.role != Role::inout) continue;
    text += row("in", fmt::format("{:<{}}  {:<16} {}", b.name, name_width(job), type_text(b.type),
                                  launched.contents[i]));
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
    text += c.max_ulps <= most_ulps ? fmt::format(", at most {}, abs", plural(c.max_ulps, "ulp"))
                                    : ", at most abs";
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

// Errors are errors whatever else was tried, and an incomplete verdict gives its reason.
std::string scope_text(const Verdict& verdict) {
  if (verdict.word != Verdict::Word::clean && verdict.word != Verdict::Word::strict) return {};
  if (verdict.scope.all_schedules) return ", decided for all schedules";
  if (const auto& under = verdict.scope.under)
    return fmt::format(", decided for all schedules that {}{}{}",
                       under->warps_together ? "keep the lanes of a warp together" : "",
                       under->warps_together && under->answers ? " and " : "",
                       under->answers ? "cancel no other launches" : "");
  const size_t n = verdict.scope.tried;
  return fmt::format(", not decided for all schedules: {} {} tried", n, n == 1 ? "was" : "were");
}

std::string verdict_text(const Verdict& verdict, bool color) {
  using Word = Verdict::Word;
  const bool proved = verdict.scope.all_schedules;
  const Style style = verdict.word == Word::clean && proved ? Style::green
                      : verdict.word == Word::errors        ? Style::red
                                                            : Style::yellow;
  std::string text(verdict.word == Word::clean && !proved ? "no findings" : name(verdict.word));
  if (!verdict.reason.empty()) text += fmt::format(" ({})", verdict.reason);
  return paint(text + scope_text(verdict), style, color);
}

std::string coverage_text(const sim::check::Coverage& c) {
  const auto counted = [](uint64_t n, std::string_view what, std::string_view ending = "s") {
    return fmt::format("{} {}{}", human_count(double(n)), what, n == 1 ? "" : ending);
  };
  const uint64_t phases = c.forced_phases + c.unforced_phases;
  std::string text = counted(c.accesses, "access", "es") + ", " +
                     counted(c.async_operations, "asynchronous operation") + ", " +
                     counted(phases, "mbarrier phase");
  if (phases != 0) text += fmt::format(" ({} % forced)", c.forced_phases * 100 / phases);
  return text + ", " + counted(c.barrier_generations, "barrier generation");
}

std::vector<Part> run_text(const Launched& launched, const Report& report, const RunView& view) {
  using To = Part::To;
  std::vector<Part> parts{{To::out, launched_text(launched)}};
  const auto add = [&](To to, std::string text) { parts.push_back({to, std::move(text)}); };
  if (report.sim) {
    const isa::Diagnostics& errors = report.sim->result.errors;
    add(To::out_as_is, report.sim->result.printed);
    add(To::err, report.sim->result.asserted);
    add(To::err, isa::render(errors, launched.job->ptx));
    add(To::err, findings_text(report.findings, view.findings) + report.unused_suppressions);
    if (!errors.empty()) return parts;
    add(To::out, row("sim", ran_text(report)));
  }
  if (report.device) {
    add(To::err, isa::render(report.device->errors, launched.job->ptx));
    if (report.device->errors.empty()) add(To::out, row("device", device_text(report)));
  }
  add(To::out, outputs_text(*launched.job, report) + compared_text(launched, report, view.color));
  if (report.trace) {
    add(To::out, trace_text(*report.trace));
    add(To::err, trace_warning(*report.trace));
  }
  if (report.sim) add(To::out, checks_text(report, view.color));
  if (report.time) add(To::out, time_text(launched, report, view));
  return parts;
}

}  // namespace palladion::report
