#include "report/run/run_trace.h"

#include <fmt/format.h>

#include <filesystem>

namespace palladion::report {

using namespace host;

namespace {

constexpr uint64_t usual_ctas = 4;  // whose scopes are shown

}  // namespace

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

Outcome<std::unique_ptr<RunTrace>> RunTrace::open(const std::string& file, const traces::Header& header,
                                                  uint64_t limit, const traces::RecorderOptions& options) {
  auto sink = traces::open(file, header, limit);
  if (!sink) return user_error(sink.error());
  return std::unique_ptr<RunTrace>(new RunTrace(file, std::move(*sink), options));
}

void RunTrace::add_scopes(const traces::RunScopes* simulated, const traces::RunScopes* device) {
  report_.scopes_missing = simulated != nullptr && simulated->times.lanes.empty();
  const uint64_t start = simulated != nullptr && !report_.scopes_missing ? simulated->start : 0;
  bool room = !recorder_->full();
  const auto add = [&](const traces::RunScopes& scopes, const traces::Track& process) {
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

}  // namespace palladion::report
