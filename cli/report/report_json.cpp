#include <fmt/format.h>

#include "cli/findings/findings_json.h"
#include "cli/report/report.h"
#include "cli/support/json.h"

namespace palladion::cli {
namespace {

std::string hex(uint64_t bits) { return fmt::format("0x{:x}", bits); }

void write_dims(JsonWriter& json, std::string_view key, const isa::Dim3& d) {
  json.key(key).begin_array().value(d.x).value(d.y).value(d.z).end_array();
}

void write_shape(JsonWriter& json, const pl::Shape& shape) {
  json.key("shape").begin_array();
  for (const int64_t d : shape) json.value(d);
  json.end_array();
}

void write_place(JsonWriter& json, const isa::SourceLoc& loc) {
  json.member("file", loc.file).member("line", loc.line).member("column", loc.column);
}

void write_comparisons(JsonWriter& json, std::string_view key,
                       const std::vector<NamedComparison>& comparisons) {
  json.key(key).begin_array();
  for (const NamedComparison& c : comparisons) write_comparison(json, c);
  json.end_array();
}

void write_trace(JsonWriter& json, const TraceReport& t) {
  json.key("trace").begin_object().member("file", t.file).member("unit", t.unit);
  json.member("events", t.events).member("clusters", t.clusters).member("bytes", t.bytes);
  json.member("complete", t.cut.empty());
  if (!t.cut.empty()) json.member("cut", t.cut).member("cut_at", t.cut_at);
  json.end_object();
}

void write_sim(JsonWriter& json, const Subject& subject, const Report& report) {
  const sim::RunResult& r = report.sim->result;
  json.key("sim").begin_object().member("schedule", report.schedule);
  json.member("completed", r.completed).member("interrupted", r.interrupted);
  json.member("instructions", r.instructions)
      .member("ctas", r.ctas)
      .member("resident_ctas_per_sm", r.resident_ctas_per_sm);
  json.key("errors");
  write_diagnostics(json, r.errors);
  json.key("findings");
  write_findings(json, report.findings);
  if (report.watched) {
    write_coverage(json, *report.watched);
    write_verdict(json, verdict_of(report.findings, incomplete_reasons(r, &*report.watched)));
  }
  if (computes_outputs(report)) write_outputs(json, subject, report.sim->outputs);
  if (report.time) write_time(json, *report.time);
  if (report.trace) write_trace(json, *report.trace);
  json.member("printed", r.printed).end_object();
}

void write_device(JsonWriter& json, const Subject& subject, const Report& report) {
  const DeviceOutcome& d = *report.device;
  json.key("device").begin_object();
  if (report.device_facts)
    json.member("name", report.device_facts->name)
        .member("sm", report.device_facts->sm)
        .member("driver", report.device_facts->driver_version);
  json.key("errors");
  write_diagnostics(json, d.errors);
  json.member("registers", d.attributes.registers).member("local_bytes", d.attributes.local_bytes);
  json.member("static_shared_bytes", d.attributes.static_shared_bytes);
  write_outputs(json, subject, d.outputs);
  json.end_object();
}

// All that two equal runs may differ in.
void write_wall(JsonWriter& json, const Subject& subject, const Report& report) {
  json.key("wall")
      .begin_object()
      .member("threads", report.threads)
      .member("record_seconds", subject.record_seconds);
  json.member("input_seconds", subject.input_seconds).member("reference_seconds", report.reference_seconds);
  if (report.sim) json.member("sim_seconds", report.sim->seconds);
  if (report.device && report.device->timing) {
    const native::Timing& t = *report.device->timing;
    json.member("device_median_us", t.median_us)
        .member("device_min_us", t.min_us)
        .member("device_max_us", t.max_us);
    json.member("device_repeats", t.samples_us.size());
  }
  json.end_object();
}

}  // namespace

void write_comparison(JsonWriter& json, const NamedComparison& named, std::string_view schedule) {
  const Comparison& c = named.comparison;
  json.begin_object().member("output", named.output);
  if (!schedule.empty()) json.member("schedule", schedule);
  json.member("ok", c.ok()).member("bits_equal", c.bits_equal);
  json.member("elements", c.elements).member("differing", c.differing).member("outside_tolerance", c.outside);
  json.member("max_ulps", c.max_ulps).member("max_abs", c.max_abs).member("max_rel", c.max_rel);
  json.member("nan_against_number", c.nan_against_number);
  json.member("relative_tolerance", named.tolerance.relative)
      .member("absolute_tolerance", named.tolerance.absolute);
  if (c.first) {
    json.key("first").begin_object().key("index").begin_array();
    for (const int64_t i : c.first->index) json.value(i);
    json.end_array().member("got", c.first->got).member("wanted", c.first->wanted);
    json.member("got_bits", hex(c.first->got_bits))
        .member("wanted_bits", hex(c.first->wanted_bits))
        .end_object();
  }
  json.end_object();
}

void write_diagnostics(JsonWriter& json, const isa::Diagnostics& diagnostics) {
  json.begin_array();
  for (const isa::Diagnostic& d : diagnostics) {
    json.begin_object().member("code", d.code);
    json.member("severity", d.severity == isa::Severity::error     ? "error"
                            : d.severity == isa::Severity::warning ? "warning"
                                                                   : "unsupported");
    json.member("message", d.message);
    write_place(json, d.loc);
    json.member("help", d.help).end_object();
  }
  json.end_array();
}

void write_coverage(JsonWriter& json, const Watched& watched) {
  const sim::check::Coverage& c = watched.coverage;
  json.key("coverage").begin_object().member("accesses", c.accesses);
  json.member("async_operations", c.async_operations)
      .member("mbarrier_phases", c.forced_phases + c.unforced_phases);
  json.member("forced_phases", c.forced_phases).member("unforced_phases", c.unforced_phases);
  json.member("unforced_reason", c.unforced_reason);
  json.member("barrier_generations", c.barrier_generations);
  json.member("timing_dependent_control", c.timing_dependent_control);
  if (watched.decision)
    json.member("decides_all_schedules", watched.decision->decided)
        .member("undecided_reason", watched.decision->reason);
  json.key("incomplete").begin_array();
  for (const std::string& reason : c.incomplete) json.value(reason);
  json.end_array().end_object();
}

void write_verdict(JsonWriter& json, const Verdict& verdict) {
  json.member("verdict", name(verdict.word)).member("verdict_reason", verdict.reason);
}

void write_outputs(JsonWriter& json, const Subject& subject, const std::vector<Array>& outputs) {
  json.key("outputs").begin_array();
  size_t next = 0;
  for (size_t i = 0; i < subject.job.buffers.size() && next < outputs.size(); ++i) {
    if (!subject.job.is_output(i)) continue;
    const Array& array = outputs[next++];
    json.begin_object().member("name", subject.job.buffers[i].name).member("dtype", pl::name(array.dtype()));
    write_shape(json, array.type.shape);
    json.member("fnv1a", hash_text(array)).end_object();
  }
  json.end_array();
}

void write_subject(JsonWriter& json, const Subject& subject) {
  const Job& job = subject.job;
  json.member("palladion", version)
      .member("kernel", subject.name)
      .member("entry", job.entry)
      .member("arch", subject.arch->name);
  json.key("sizes").begin_object();
  for (const auto& [name, value] : subject.choice.sizes) json.member(name, value);
  json.end_object().key("settings").begin_object();
  for (const auto& [name, value] : subject.choice.settings) json.member(name, value);
  json.end_object();
  write_dims(json, "grid", job.grid);
  write_dims(json, "block", job.block);
  write_dims(json, "cluster", job.cluster);
  json.member("dynamic_shared_bytes", job.dynamic_shared).key("inputs").begin_array();
  for (size_t i = 0; i < job.buffers.size(); ++i) {
    const Buffer& b = job.buffers[i];
    if (b.role != Role::in && b.role != Role::inout) continue;
    json.begin_object().member("name", b.name).member("dtype", pl::name(b.type.dtype));
    write_shape(json, b.type.shape);
    json.member("contents", subject.contents[i]).end_object();
  }
  json.end_array();
}

std::string json_report(const Subject& subject, const Report& report) {
  JsonWriter json;
  json.begin_object().member("command", report.command);
  write_subject(json, subject);
  json.member("seed", report.seed).member("exit_code", int(report.exit_code));
  if (report.sim) write_sim(json, subject, report);
  if (report.device) write_device(json, subject, report);
  write_comparisons(json, "reference", report.reference);
  write_comparisons(json, "device_against_sim", report.device_against_sim);
  write_wall(json, subject, report);
  json.end_object();
  return json.text();
}

}  // namespace palladion::cli
