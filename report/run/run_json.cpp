#include "report/run/run_json.h"

#include <fmt/format.h>

#include "report/json/findings_json.h"
#include "report/text/words.h"

namespace palladion::report {
namespace {

std::string hex(uint64_t bits) { return fmt::format("0x{:x}", bits); }

json::array dims_json(const isa::Dim3& d) { return {d.x, d.y, d.z}; }

json::array diagnostics_json(const isa::Diagnostics& diagnostics) {
  return array_of(diagnostics, [](const isa::Diagnostic& d) {
    const char* const severity = d.severity == isa::Severity::error     ? "error"
                                 : d.severity == isa::Severity::warning ? "warning"
                                                                        : "unsupported";
    return json::object{{"code", d.code.name()}, {"severity", severity}, {"message", d.message},
                        {"file", d.loc.file},    {"line", d.loc.line},   {"column", d.loc.column},
                        {"help", d.help}};
  });
}

json::object trace_json(const TraceReport& t) {
  json::object out = {{"file", t.file},         {"unit", t.unit},   {"events", t.events},
                      {"clusters", t.clusters}, {"bytes", t.bytes}, {"complete", t.cut.empty()}};
  if (!t.cut.empty()) append(out, {{"cut", t.cut}, {"cut_at", t.cut_at}});
  return out;
}

json::object sim_json(const Launched& launched, const Report& report) {
  const sim::RunResult& r = report.sim->result;
  json::object out = {{"schedule", report.schedule},
                      {"completed", r.completed},
                      {"interrupted", r.interrupted},
                      {"instructions", r.instructions},
                      {"ctas", r.ctas},
                      {"resident_ctas_per_sm", r.resident_ctas_per_sm},
                      {"errors", diagnostics_json(r.errors)},
                      {"findings", findings_json(report.findings)}};
  if (report.watched) out.emplace("coverage", coverage_json(*report.watched));
  if (report.watched || was_interrupted(report)) append(out, verdict_json(verdict_of(report)));
  if (computes_outputs(report) && r.completed)
    out.emplace("outputs", outputs_json(*launched.job, report.sim->outputs));
  if (report.time) out.emplace("clock", time_json(*report.time));
  if (report.trace) out.emplace("trace", trace_json(*report.trace));
  out.emplace("printed", r.printed);
  return out;
}

json::object device_json(const Launched& launched, const Report& report) {
  const DeviceOutcome& d = *report.device;
  json::object out;
  if (const auto& facts = report.device_facts)
    out = {{"name", facts->name}, {"sm", facts->sm}, {"driver", facts->driver_version}};
  append(out, {{"errors", diagnostics_json(d.errors)},
               {"registers", d.attributes.registers},
               {"local_bytes", d.attributes.local_bytes},
               {"static_shared_bytes", d.attributes.static_shared_bytes},
               {"outputs", outputs_json(*launched.job, d.outputs)}});
  return out;
}

// All that two equal runs may differ in.
json::object wall_json(const Launched& launched, const Report& report) {
  json::object out = {{"threads", report.threads},
                      {"record_seconds", launched.record_seconds},
                      {"input_seconds", launched.input_seconds},
                      {"reference_seconds", report.reference_seconds}};
  if (report.sim) out.emplace("sim_seconds", report.sim->seconds);
  if (report.device && report.device->timing) {
    const cuda::native::Timing& t = *report.device->timing;
    append(out, {{"device_median_us", t.median_us},
                 {"device_min_us", t.min_us},
                 {"device_max_us", t.max_us},
                 {"device_repeats", t.samples_us.size()}});
  }
  return out;
}

json::object array_json(const std::string& name, const pl::ShapeDtype& type) {
  return {{"name", name}, {"dtype", pl::name(type.dtype)}, {"shape", array_of(type.shape)}};
}

json::array comparisons_json(const std::vector<NamedComparison>& comparisons) {
  return array_of(comparisons, [](const NamedComparison& c) { return comparison_json(c); });
}

}  // namespace

json::object comparison_json(const verify::OutputComparison& named, std::string_view schedule) {
  const Comparison& c = named.comparison;
  json::object out = {{"output", named.output}};
  if (!schedule.empty()) out.emplace("schedule", schedule);
  append(out, {{"ok", c.ok()},
               {"bits_equal", c.bits_equal},
               {"elements", c.elements},
               {"differing", c.differing},
               {"outside_tolerance", c.outside},
               {"max_ulps", c.max_ulps},
               {"max_abs", c.max_abs},
               {"max_rel", c.max_rel},
               {"nan_against_number", c.nan_against_number},
               {"relative_tolerance", named.tolerance.relative},
               {"absolute_tolerance", named.tolerance.absolute}});
  if (c.first)
    out.emplace("first", json::object{{"index", array_of(c.first->index)},
                                      {"got", c.first->got},
                                      {"wanted", c.first->wanted},
                                      {"got_bits", hex(c.first->got_bits)},
                                      {"wanted_bits", hex(c.first->wanted_bits)}});
  return out;
}

json::object coverage_json(const Watched& watched) {
  const sim::check::Coverage& c = watched.coverage;
  json::object out = {{"accesses", c.accesses},
                      {"async_operations", c.async_operations},
                      {"mbarrier_phases", c.forced_phases + c.unforced_phases},
                      {"forced_phases", c.forced_phases},
                      {"unforced_phases", c.unforced_phases},
                      {"unforced_reason", report::text_of(c.unforced_reason)},
                      {"barrier_generations", c.barrier_generations},
                      {"timing_dependent_control", c.timing_dependent_control}};
  if (const auto& decision = watched.decision)
    append(out, {{"decides_all_schedules", decision->decided}, {"undecided_reason", decision->reason}});
  out.emplace("incomplete", array_of(c.incomplete));
  return out;
}

json::object verdict_json(const Verdict& verdict) {
  return {{"verdict", name(verdict.word)},
          {"verdict_reason", verdict.reason},
          {"decided_for_all_schedules", verdict.scope.all_schedules},
          {"schedules_tried", verdict.scope.tried}};
}

json::array outputs_json(const Job& job, const std::vector<Array>& outputs) {
  json::array out;
  for (size_t i = 0; i < job.buffers.size() && out.size() < outputs.size(); ++i) {
    if (!job.is_output(i)) continue;
    const Array& array = outputs[out.size()];
    json::object output = array_json(job.buffers[i].name, array.type);
    output.emplace("fnv1a", hash_text(palladion::hash(array)));
    out.push_back(std::move(output));
  }
  return out;
}

json::object launched_json(const Launched& launched) {
  const Job& job = *launched.job;
  json::array inputs;
  for (size_t i = 0; i < job.buffers.size(); ++i) {
    const Buffer& b = job.buffers[i];
    if (b.role != Role::in && b.role != Role::inout) continue;
    json::object input = array_json(b.name, b.type);
    input.emplace("contents", launched.contents[i]);
    inputs.push_back(std::move(input));
  }
  json::object out = {{"palladion", version},
                      {"kernel", launched.name},
                      {"entry", job.entry},
                      {"arch", launched.arch->name},
                      {"sizes", object_of(launched.sizes)},
                      {"settings", object_of(launched.settings)}};
  if (!launched.settings_from.empty()) out.emplace("settings_from", launched.settings_from);
  append(out, {{"grid", dims_json(job.grid)},
               {"block", dims_json(job.block)},
               {"cluster", dims_json(job.cluster)},
               {"dynamic_shared_bytes", job.dynamic_shared},
               {"inputs", std::move(inputs)}});
  return out;
}

std::string run_json(const Launched& launched, const Report& report) {
  json::object out = {{"command", report.command}};
  append(out, launched_json(launched));
  append(out, {{"seed", report.seed}, {"exit_code", report.exit_code}});
  if (report.sim) out.emplace("sim", sim_json(launched, report));
  if (report.device) out.emplace("device", device_json(launched, report));
  append(out, {{"reference", comparisons_json(report.reference)},
               {"device_against_sim", comparisons_json(report.device_against_sim)},
               {"wall", wall_json(launched, report)}});
  return json_text(out);
}

}  // namespace palladion::report
