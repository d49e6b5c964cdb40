#include "report/json/findings_json.h"

#include <fmt/format.h>

#include "isa/core/hash.h"

namespace palladion::report {
namespace {

json::object site_json(const sim::Site& site) {
  json::object out = {{"cta", {site.cta.x, site.cta.y, site.cta.z}},
                      {"warp", site.warp},
                      {"lanes", fmt::format("{:08x}", site.lanes)},
                      {"what", site.what},
                      {"role", site.role},
                      {"occurrence", site.occurrence},
                      {"ptx_line", site.ptx_line},
                      {"instruction", site.instruction}};
  if (const isa::SourceLoc& at = site.source; at.known())
    out.emplace("source", json::object{{"file", at.file}, {"line", at.line}, {"column", at.column}});
  return out;
}

json::object arriver_json(const sim::Arriver& a) {
  json::object out = {
      {"cta", {a.cta.x, a.cta.y, a.cta.z}}, {"warp", a.warp}, {"lanes", fmt::format("{:08x}", a.lanes)}};
  if (a.site) out.emplace("site", *a.site);
  return out;
}

// `site` is an index of `sites`: the warp, the lanes and the line that wait.
json::array waits_json(const sim::Finding& f) {
  json::array out;
  for (size_t i = 0; i < f.waits.size(); ++i) {
    const sim::BlockedWait& w = f.waits[i];
    json::object wait = {{"site", i}, {"kind", w.kind}, {"object", w.object}};
    const auto add = [&](const char* name, const auto& value) {
      if (value) wait.emplace(name, *value);
    };
    add("phase", w.phase);
    add("parity", w.parity);
    add("expected_arrivals", w.expected_arrivals);
    add("pending_arrivals", w.pending_arrivals);
    add("pending_bytes", w.pending_bytes);
    wait.emplace("alike", w.alike);
    wait.emplace("arrivers", array_of(w.arrivers, arriver_json));
    out.emplace_back(std::move(wait));
  }
  return out;
}

json::object finding_json(const SeenFinding& seen) {
  const sim::Finding& f = seen.finding;
  json::object out = {{"code", f.code},
                      {"severity", word(f.severity)},
                      {"fatal", f.fatal},
                      {"message", f.message},
                      {"object", f.object},
                      {"sites", array_of(f.sites, site_json)},
                      {"notes", array_of(f.notes)},
                      {"waits", waits_json(f)},
                      {"missing", f.missing},
                      {"rule", f.rule},
                      {"help", f.help},
                      {"count", f.count},
                      {"schedules", array_of(seen.schedules)},
                      {"replay", seen.replay},
                      {"fingerprint", fingerprint(f)},
                      {"suppressed", seen.is_suppressed()}};
  if (seen.is_suppressed()) out.emplace("reason", seen.suppressed);
  return out;
}

}  // namespace

json::array findings_json(std::span<const SeenFinding> findings) { return array_of(findings, finding_json); }

std::string fingerprint(const sim::Finding& f) {
  isa::Fnv1a hash;
  const auto add = [&](std::string_view text) { hash.add(text).step(0); };
  add(f.code);
  add(object_name(f.object));
  for (const sim::Site& site : f.sites) {
    add(std::string_view(site.source.file).substr(site.source.file.rfind('/') + 1));
    add(site.instruction);
  }
  return fmt::format("{:016x}", hash.value());
}

}  // namespace palladion::report
