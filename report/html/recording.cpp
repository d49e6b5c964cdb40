#include "report/html/recording.h"

#include <fmt/format.h>

namespace palladion::report {
namespace {

constexpr uint64_t last_scoped_cta = 3;

json::object shown_json(const traces::RecorderOptions& o, const traces::Recorder& recorder) {
  using Kind = traces::CtaChoice::Kind;
  std::string ctas = "all CTAs";
  if (o.ctas.kind != Kind::all) {
    const char* const what = o.ctas.kind == Kind::ctas ? "CTA" : "SM";
    ctas = o.ctas.first == o.ctas.last ? fmt::format("{} {}", what, o.ctas.first)
                                       : fmt::format("{}s {} to {}", what, o.ctas.first, o.ctas.last);
    if (o.ctas.kind == Kind::sms) ctas = "the CTAs of " + ctas;
  }
  json::object out = {{"ctas", ctas}, {"clusters", recorder.clusters()}, {"events", recorder.events()}};
  if (o.window.first != 0 || o.window.last != ~0ULL)
    out.emplace("window", json::array{o.window.first, o.window.last});
  return out;
}

}  // namespace

PageRecording::PageRecording(traces::Header header, traces::RecorderOptions options)
    : options_(options),
      sink_(std::move(header), timeline_limit),
      recorder_(sink_, options),
      memory_(options.ctas) {}

void PageRecording::finish(const traces::RunScopes* scopes) {
  if (scopes != nullptr && !recorder_.full())
    traces::add_scopes(sink_, scopes->times, recorder_.process(), 0, last_scoped_cta, scopes->start);
  const auto at = recorder_.ended_at();
  sink_.finish(
      at ? fmt::format("the timeline ends at {} {}: {}", *at, name(options_.unit), sink_.why_full()) : "",
      at.value_or(0));
}

PageParts PageRecording::parts() const {
  PageParts parts;
  parts.trace = sink_.json();
  parts.recorded = memory_.json();
  parts.more = {{"shown", shown_json(options_, recorder_)}};
  return parts;
}

}  // namespace palladion::report
