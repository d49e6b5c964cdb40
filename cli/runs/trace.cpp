#include "cli/runs/trace.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "cli/options/clock_settings.h"

namespace palladion::cli {
namespace {

constexpr uint64_t usual_ctas = 4;  // whose scopes are shown

// "2GB", "500M", "65536" in bytes; decimal, as disks are sold. Nothing for other words.
std::optional<uint64_t> bytes_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (unit.ends_with('B')) unit.remove_suffix(1);
  const double scale = unit.empty() ? 1 : unit == "K" ? 1e3 : unit == "M" ? 1e6 : unit == "G" ? 1e9 : 0;
  if (scale == 0 || value * scale > 1e18) return std::nullopt;
  return static_cast<uint64_t>(value * scale);
}

std::string title_of(const Subject& subject, const Options& o) {
  std::string title = subject.name;
  for (const auto* pairs : {&o.sizes, &o.settings})
    for (const auto& [name, value] : *pairs) title += fmt::format(" {}={}", name, value);
  return fmt::format("{}, {}, {}", title, o.arch, o.schedule.empty() ? "functional" : o.schedule);
}

}  // namespace

Outcome<traces::RecorderOptions> recorder_options(const Options& o) {
  traces::RecorderOptions out;
  if (!o.trace_ctas.empty()) {
    const auto choice = traces::cta_choice(o.trace_ctas);
    if (!choice)
      return user_error(fmt::format("--trace-ctas {}: no such choice of CTAs", o.trace_ctas),
                        "all, or CTAs by their number in the grid: 7 or 0..3, or SMs: sm:0 or sm:0..1");
    out.ctas = *choice;
  }
  if (!o.trace_cycles.empty()) {
    const auto range = traces::range_of(o.trace_cycles);
    if (!range) return user_error(fmt::format("--trace-cycles {}: expected FIRST..LAST", o.trace_cycles));
    out.window = {range->first, range->last};
  }
  out.unit = on_hardware_schedule(o) ? traces::TimeUnit::sm_cycles : traces::TimeUnit::warp_instructions;
  return out;
}

traces::Header trace_header(const Subject& subject, const Options& o, const sim::Schedule& schedule,
                            const traces::RecorderOptions& recorded) {
  traces::Header header{.title = title_of(subject, o), .unit = recorded.unit, .from = recorded.window.first};
  if (schedule.kind == sim::Schedule::Kind::hardware)
    header.sm_clock_mhz = clock_settings(o)->parameters.sm_clock;
  return header;
}

Outcome<void> check_trace_options(const Options& o) {
  const bool reports = !o.report.empty();
  if (const auto options = recorder_options(o); !options) return tl::make_unexpected(options.error());
  if (o.trace.empty()) {
    const std::pair<std::string_view, bool> lacking[] = {
        {"--trace-ctas", !o.trace_ctas.empty() && !reports},
        {"--trace-cycles", !o.trace_cycles.empty() && !reports},
        {"--trace-limit", !o.trace_limit.empty()}};
    for (const auto& [option, lacks] : lacking)
      if (lacks)
        return user_error(fmt::format("{} needs --trace FILE{}", option,
                                      option == "--trace-limit" ? "" : " or --report FILE.html"));
    return check_scope_options(o);
  }
  if (o.command == Command::check) return user_error("--trace belongs to `run`: `check` runs many times");
  if (!traces::known_extension(o.trace))
    return user_error(fmt::format("--trace {}: a trace is one of {}", o.trace, traces::extensions));
  if (!o.trace_limit.empty() && !bytes_of(o.trace_limit))
    return user_error(fmt::format("--trace-limit {}: expected bytes, 500MB or 2GB", o.trace_limit));
  if (o.on == "device")
    return user_error("--trace is of the simulator; `compare --trace` shows the device beside it");
  return check_scope_options(o);
}

RunTrace::RunTrace(std::string file, std::unique_ptr<traces::Sink> sink, traces::RecorderOptions options)
    : file_(std::move(file)), sink_(std::move(sink)), unit_(options.unit) {
  std::error_code none;
  if (std::filesystem::is_regular_file(file_, none)) unfinished_.emplace(file_);
  using Kind = traces::CtaChoice::Kind;
  const bool numbered = options.ctas.kind == Kind::ctas;
  first_cta_ = numbered ? options.ctas.first : 0;
  last_cta_ = numbered ? options.ctas.last : options.ctas.kind == Kind::all ? ~0ULL : usual_ctas - 1;
  recorder_.emplace(*sink_, options);
}

Outcome<std::unique_ptr<RunTrace>> RunTrace::open(const Subject& subject, const Options& o,
                                                  const sim::Schedule& schedule) {
  if (o.trace.empty()) return nullptr;
  const auto options = recorder_options(o);
  if (!options) return tl::make_unexpected(options.error());
  const uint64_t limit = o.trace_limit.empty() ? traces::usual_limit : *bytes_of(o.trace_limit);
  auto sink = traces::open(o.trace, trace_header(subject, o, schedule, *options), limit);
  if (!sink) return user_error(sink.error());
  return std::unique_ptr<RunTrace>(new RunTrace(o.trace, std::move(*sink), *options));
}

void RunTrace::add_scopes(const RunScopes* simulated, const RunScopes* device) {
  report_.scopes_missing = simulated != nullptr && simulated->times.lanes.empty();
  const uint64_t start = simulated != nullptr && !report_.scopes_missing ? simulated->start : 0;
  bool room = !recorder_->full();
  const auto add = [&](const RunScopes& scopes, const traces::Track& process) {
    report_.lost += scopes.lost;
    room = room && traces::add_scopes(*sink_, scopes.times, process, first_cta_, last_cta_, start);
  };
  if (simulated != nullptr) add(*simulated, recorder_->process());
  if (device != nullptr) {
    const traces::Track process{traces::track_id("device"), 0, traces::TrackKind::process, 2,
                                fmt::format("device: {} (1 ns = 1 SM cycle)", device->times.what)};
    room = room && sink_->add(process);
    add(*device, process);
  }
  if (simulated != nullptr && device != nullptr)
    report_.scopes = traces::compare_scopes(simulated->times, device->times);
}

TraceReport RunTrace::finish() {
  TraceReport report{file_, std::string(traces::name(unit_)), recorder_->events(), recorder_->clusters()};
  if (const auto at = recorder_->ended_at()) {
    report.cut_at = *at;
    report.cut = sink_->why_full();
  }
  sink_->finish(
      report.cut.empty() ? "" : fmt::format("ends at {} {}: {}", report.cut_at, report.unit, report.cut),
      report.cut_at);
  unfinished_.reset();
  if (report.cut.empty()) report.cut = sink_->why_full();
  report.scopes = std::move(report_.scopes);
  report.lost = report_.lost;
  report.scopes_missing = report_.scopes_missing;
  report.bytes = sink_->bytes();
  return report;
}

}  // namespace palladion::cli
