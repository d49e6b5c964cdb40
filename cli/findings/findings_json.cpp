#include "cli/findings/findings_json.h"

#include <fmt/format.h>

namespace palladion::cli {
namespace {

void write_site(JsonWriter& json, const sim::Site& site) {
  json.begin_object().key("cta").begin_array();
  json.value(site.cta.x).value(site.cta.y).value(site.cta.z).end_array();
  json.member("warp", site.warp).member("lanes", fmt::format("{:08x}", site.lanes));
  json.member("what", site.what).member("role", site.role).member("occurrence", site.occurrence);
  json.member("ptx_line", site.ptx_line).member("instruction", site.instruction);
  if (site.source.known())
    json.key("source")
        .begin_object()
        .member("file", site.source.file)
        .member("line", site.source.line)
        .member("column", site.source.column)
        .end_object();
  json.end_object();
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

void write_finding(JsonWriter& json, const SeenFinding& seen) {
  const sim::Finding& f = seen.finding;
  json.begin_object().member("code", f.code).member("severity", word(f.severity)).member("fatal", f.fatal);
  json.member("message", f.message).member("object", f.object).key("sites").begin_array();
  for (const sim::Site& site : f.sites) write_site(json, site);
  json.end_array();
  write_texts(json, "notes", f.notes);
  json.member("missing", f.missing).member("rule", f.rule).member("help", f.help).member("count", f.count);
  write_texts(json, "schedules", seen.schedules);
  json.member("replay", seen.replay).member("fingerprint", fingerprint(f));
  json.member("suppressed", seen.is_suppressed());
  if (seen.is_suppressed()) json.member("reason", seen.suppressed);
  json.end_object();
}

// FNV-1a, 64 bits.
struct Hash {
  uint64_t state = 0xcbf29ce484222325;
  void add(std::string_view text) {
    for (const char c : text) step(uint8_t(c));
    step(0);
  }
  void step(uint8_t byte) { state = (state ^ byte) * 0x100000001b3; }
};

}  // namespace

void write_findings(JsonWriter& json, std::span<const SeenFinding> findings) {
  json.begin_array();
  for (const SeenFinding& seen : findings) write_finding(json, seen);
  json.end_array();
}

std::string fingerprint(const sim::Finding& f) {
  Hash hash;
  hash.add(f.code);
  hash.add(object_name(f.object));
  for (const sim::Site& site : f.sites) {
    hash.add(std::string_view(site.source.file).substr(site.source.file.rfind('/') + 1));
    hash.add(site.instruction);
  }
  return fmt::format("{:016x}", hash.state);
}

}  // namespace palladion::cli
