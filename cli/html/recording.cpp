#include "cli/html/recording.h"

#include <fmt/format.h>

#include <set>

#include "cli/options/clock_settings.h"
#include "cli/support/files.h"

namespace palladion::cli {
namespace {

constexpr uint64_t most_of_a_source = 1'000'000, most_of_sources = 4'000'000;  // bytes
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

void PageRecording::finish(const RunScopes* scopes) {
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

json::object sources_json(const Subject& subject, const json::object& recorded,
                          std::span<const sim::Finding* const> findings) {
  std::set<std::string> names;
  if (const auto* instructions = recorded.if_contains("instructions"))
    for (const json::value& i : instructions->as_array()) names.emplace(i.as_array()[1].as_string());
  for (const sim::Finding* f : findings)
    for (const sim::Site& site : f->sites) names.insert(site.source.file);
  names.erase("");
  json::object files;
  json::array not_shown;
  uint64_t bytes = 0;
  const auto add = [&](const std::string& name, const std::string& text) {
    bytes += text.size();
    if (bytes <= most_of_sources)
      files.emplace(name, text);
    else
      not_shown.emplace_back(name);
  };
  const bool has_ptx = !subject.ptx_name.empty() && !subject.job.ptx.empty();
  if (has_ptx) add(subject.ptx_name, subject.job.ptx);
  for (const std::string& name : names) {
    if (files.contains(name)) continue;
    if (const auto text = read_text(name, most_of_a_source))
      add(name, *text);
    else
      not_shown.emplace_back(name);
  }
  return {{"files", std::move(files)},
          {"not_shown", std::move(not_shown)},
          {"ptx", has_ptx ? subject.ptx_name : ""}};
}

json::object chip_json(const isa::ArchSpec& arch, const ClockSettings* clock) {
  json::object out = {{"name", arch.name},
                      {"chip", arch.chip},
                      {"sms", arch.sm_count},
                      {"tensor_lanes", arch.tensor_lanes},
                      {"tensor_columns", arch.tensor_columns},
                      {"shared_bytes", arch.shared_bytes_per_sm}};
  if (clock == nullptr) return out;
  const isa::ClockParameters& p = clock->parameters;
  // 16-bit multiplications of an SM in a cycle; tcgen05 takes a K of 32 bytes, so 16 of them, in all lanes.
  const double macs =
      arch.has_tcgen05() ? p.tcgen05_columns_per_cycle * arch.tensor_lanes * 16 : p.wgmma_macs_per_cycle;
  append(out, {{"sm_clock_mhz", p.sm_clock},
               {"tflops_16_bits", 2 * macs * arch.sm_count * p.sm_clock * 1e-6},
               {"hbm_gb_per_s", p.hbm_read},
               {"l2_gb_per_s", p.l2_bytes_per_cycle * p.sm_clock * 1e-3}});
  return out;
}

}  // namespace palladion::cli
