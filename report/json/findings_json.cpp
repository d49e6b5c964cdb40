#include "report/json/findings_json.h"

#include <fmt/format.h>

#include <variant>

#include "isa/core/hash.h"
#include "isa/core/symbol_name.h"
#include "report/text/finding_text.h"

namespace palladion::report {
namespace {

json::object place_json(const isa::SourceLoc& at) {
  return {{"file", at.file}, {"line", at.line}, {"column", at.column}};
}

json::object frame_json(const isa::Frame& frame) {
  json::object out = place_json(frame.at);
  if (!frame.function.empty()) out.emplace("function", named_json(frame.function));
  return out;
}

json::object site_json(const sim::Site& site) {
  json::object out = {{"cta", {site.cta.x, site.cta.y, site.cta.z}},
                      {"warp", site.warp},
                      {"lanes", fmt::format("{:08x}", site.lanes)},
                      {"what", report::text_of(site.part, site.source.known())},
                      {"does", report::name_of(site.part.does)},
                      {"asynchronous", site.part.asynchronous},
                      {"earlier", site.part.earlier},
                      {"role", report::text_of(site.role)},
                      {"occurrence", site.occurrence},
                      {"ptx_line", site.ptx_line},
                      {"instruction", site.instruction}};
  if (site.source.known()) out.emplace("source", place_json(site.source));
  if (!site.frames.empty()) out.emplace("frames", array_of(site.frames, frame_json));
  return out;
}

json::object arriver_json(const sim::Arriver& a) {
  json::object out = {
      {"cta", {a.cta.x, a.cta.y, a.cta.z}}, {"warp", a.warp}, {"lanes", fmt::format("{:08x}", a.lanes)}};
  if (a.site) out.emplace("site", *a.site);
  return out;
}

json::array ranges_json(const std::vector<sim::Range>& ranges) {
  return array_of(ranges, [](const sim::Range& r) { return json::array{r.from, r.to}; });
}

json::object name_json(const sim::Named& n) {
  json::object out = named_json(n.name);
  out.emplace("bytes", ranges_json(n.bytes));
  if (n.index) out.emplace("index", *n.index);
  return out;
}

// The object as values: `names` of arrays with the bytes in them, `ranges` of what has none.
json::object object_json(const sim::Object& object) {
  json::object out = {{"kind", report::name_of(object.kind)},
                      {"names", array_of(object.names, name_json)},
                      {"ranges", ranges_json(object.ranges)},
                      {"number", object.number},
                      {"past_end", object.past_end}};
  if (object.cta) out.emplace("cta", json::array{object.cta->x, object.cta->y, object.cta->z});
  if (object.warp) out.emplace("warp", *object.warp);
  return out;
}

json::object actor_json(const sim::WarpLanes& actor) {
  json::object out = {{"warp", actor.warp}, {"lanes", fmt::format("{:08x}", actor.lanes)}};
  if (actor.cta) out.emplace("cta", json::array{actor.cta->x, actor.cta->y, actor.cta->z});
  return out;
}

json::object statement_json(const sim::Statement& statement);

struct ValueJson {
  json::value operator()(int64_t n) const { return n; }
  json::value operator()(double x) const { return x; }
  json::value operator()(const std::string& text) const { return json::value(text); }
  json::value operator()(const sim::Object& object) const { return object_json(object); }
  json::value operator()(const sim::WarpLanes& actor) const { return actor_json(actor); }
  json::value operator()(const sim::Site& site) const { return site_json(site); }
  json::value operator()(const sim::CycleStep& step) const {
    return {{"actor", actor_json(step.actor)}, {"object", object_json(step.object)}};
  }
  json::value operator()(const sim::Statement& part) const { return statement_json(part); }
};

// A sentence as values: sim/launch/phrases has the names.
json::object statement_json(const sim::Statement& statement) {
  return {{"phrase", report::name_of(statement.phrase)},
          {"values",
           array_of(statement.values, [](const sim::PhraseValue& v) { return std::visit(ValueJson{}, v); })}};
}

// The sentences whose words are elsewhere in the finding; what it does not say is absent.
json::object said_json(const sim::Finding& f) {
  json::object out;
  const auto add = [&](const char* name, const sim::Statement& statement) {
    if (statement) out.emplace(name, statement_json(statement));
  };
  add("message", f.message);
  add("missing", f.missing);
  add("help", f.help);
  out.emplace("notes", array_of(f.notes, statement_json));
  return out;
}

// `site` is an index of `sites`: the warp, the lanes and the line that wait.
json::array waits_json(const sim::Finding& f) {
  json::array out;
  for (size_t i = 0; i < f.sites.size(); ++i) {
    if (!f.sites[i].wait) continue;
    const sim::BlockedWait& w = *f.sites[i].wait;
    json::object wait = {{"site", i},
                         {"kind", report::name_of(w.kind)},
                         {"object", report::text_of(w.object)},
                         {"text", report::text_of(w)},
                         {"examined", w.examined}};
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
  json::object out = {{"code", f.code.name()},
                      {"kernel", named_json(f.kernel)},
                      {"severity", word(f.severity)},
                      {"fatal", f.fatal},
                      {"message", report::message_text(f)},
                      {"object", report::object_text(f)},
                      {"about", object_json(f.object)},
                      {"sites", array_of(f.sites, site_json)},
                      {"notes", array_of(report::notes_text(f))},
                      {"waits", waits_json(f)},
                      {"missing", report::missing_text(f)},
                      {"rule", report::rule_text(f)},
                      {"help", report::help_text(f)},
                      {"count", f.count},
                      {"schedules", array_of(seen.schedules)},
                      {"replay", seen.replay},
                      {"fingerprint", fingerprint(f)},
                      {"suppressed", seen.is_suppressed()}};
  out.emplace("said", said_json(f));
  if (seen.is_suppressed()) out.emplace("reason", seen.suppressed);
  return out;
}

}  // namespace

json::object named_json(const std::string& symbol) {
  const std::string name = isa::readable_name(symbol);
  json::object out = {{"name", name}};
  if (name != symbol) out.emplace("symbol", symbol);
  return out;
}

json::array findings_json(std::span<const SeenFinding> findings) { return array_of(findings, finding_json); }

std::string fingerprint(const sim::Finding& f) {
  isa::Fnv1a hash;
  const auto add = [&](std::string_view text) { hash.add(text).step(0); };
  add(f.code.name());
  add(f.object.names.empty() ? std::string() : f.object.names.front().name);
  for (const sim::Site& site : f.sites) {
    add(std::string_view(site.source.file).substr(site.source.file.rfind('/') + 1));
    add(site.instruction);
  }
  return fmt::format("{:016x}", hash.value());
}

}  // namespace palladion::report
