#include "cli/findings/findings_json.h"

#include <fmt/format.h>

#include "isa/core/hash.h"

namespace palladion::cli {
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

json::object finding_json(const SeenFinding& seen) {
  const sim::Finding& f = seen.finding;
  json::object out = {{"code", f.code},
                      {"severity", word(f.severity)},
                      {"fatal", f.fatal},
                      {"message", f.message},
                      {"object", f.object},
                      {"sites", array_of(f.sites, site_json)},
                      {"notes", array_of(f.notes)},
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

}  // namespace palladion::cli
