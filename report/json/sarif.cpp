// SARIF 2.1.0 (OASIS): what code hosts and editors read findings from.
#include <fmt/format.h>

#include <algorithm>

#include "report/json/findings_json.h"
#include "report/text/codes.h"
#include "report/text/finding_text.h"

namespace palladion::report {
namespace {

std::string_view level_of(sim::FindingSeverity severity) {
  if (severity == sim::FindingSeverity::error) return "error";
  return severity == sim::FindingSeverity::strict ? "warning" : "note";
}

json::object text_json(std::string_view text) { return {{"text", text}}; }

// A relative reference, or file://...; anything but letters, digits and a few signs is percent-encoded.
std::string uri_of(std::string_view path, std::string_view folder) {
  std::string out;
  if (!folder.empty() && path.starts_with(folder) && path.substr(folder.size()).starts_with('/')) {
    path.remove_prefix(folder.size() + 1);
  } else if (path.starts_with('/')) {
    out = "file://";
  }
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", uint8_t(c));
  }
  return out;
}

std::string thread_text(const sim::Site& s) {
  std::string text = report::text_of(s.part, s.source.known());
  if (!text.empty()) text += ": ";
  text += s.instruction.empty() ? "an instruction" : s.instruction;
  text += fmt::format(" by cta ({},{},{}) warp {}", s.cta.x, s.cta.y, s.cta.z, s.warp);
  const std::string role = report::text_of(s.role);
  return role.empty() ? text : text + fmt::format(" ({})", role);
}

json::object location_json(const sim::Site& s, const SarifRun& run, int id) {
  const bool source = s.source.known();
  const std::string& file = source ? s.source.file : run.ptx_name;
  const uint32_t line = source ? s.source.line : s.ptx_line;
  json::object out;
  if (id >= 0) out.emplace("id", id);
  if (!file.empty() && line != 0) {
    json::object region = {{"startLine", line}};
    if (source && s.source.column != 0) region.emplace("startColumn", s.source.column);
    out.emplace("physicalLocation",
                json::object{{"artifactLocation", json::object{{"uri", uri_of(file, run.folder)}}},
                             {"region", std::move(region)}});
  }
  out.emplace("message", text_json(thread_text(s)));
  return out;
}

// The whole finding in one text: viewers show little else.
std::string message_of(const SeenFinding& seen) {
  const sim::Finding& f = seen.finding;
  std::string text = report::message_text(f);
  const auto add = [&](std::string_view label, std::string_view words) {
    if (!words.empty()) text += fmt::format("\n{}: {}", label, words);
  };
  add("object", report::object_text(f));
  for (const sim::Site& site : f.sites)
    if (site.wait) add("waits for", report::text_of(*site.wait));
  for (const std::string& note : report::notes_text(f)) add("note", note);
  add("missing", report::missing_text(f));
  add("rule", report::rule_text(f));
  add("help", report::help_text(f));
  add("replay", seen.replay);
  return text;
}

json::array suppressions_json(const SeenFinding& seen) {
  if (!seen.is_suppressed()) return {};
  return {json::object{{"kind", "external"}, {"justification", seen.suppressed}}};
}

json::object result_json(const SeenFinding& seen, size_t rule, const SarifRun& run) {
  const sim::Finding& f = seen.finding;
  json::array locations, related;
  for (size_t i = 0; i < f.sites.size(); ++i)
    (i == 0 ? locations : related).push_back(location_json(f.sites[i], run, i == 0 ? -1 : int(i)));
  json::object out = {{"ruleId", f.code.name()},
                      {"ruleIndex", rule},
                      {"level", level_of(f.severity)},
                      {"message", text_json(message_of(seen))},
                      {"locations", std::move(locations)},
                      {"relatedLocations", std::move(related)},
                      {"partialFingerprints", json::object{{"palladion/v1", fingerprint(f)}}},
                      {"occurrenceCount", f.count}};
  if (run.suppressions) out.emplace("suppressions", suppressions_json(seen));
  out.emplace("properties",
              json::object{{"severity", word(f.severity)}, {"schedules", array_of(seen.schedules)}});
  return out;
}

struct Rule {
  isa::CodeNumber id;
  sim::FindingSeverity severity;
};

std::vector<Rule> rules_of(std::span<const SeenFinding> findings) {
  std::vector<Rule> rules;
  for (const SeenFinding& s : findings)
    if (std::ranges::find(rules, s.finding.code, &Rule::id) == rules.end())
      rules.push_back({s.finding.code, s.finding.severity});
  std::ranges::sort(rules, {}, &Rule::id);
  return rules;
}

json::object rule_json(const Rule& rule) {
  json::object out = {{"id", rule.id.name()}};
  if (const isa::CodeText* text = code_text(rule.id)) {
    out.emplace("shortDescription", text_json(text->title));
    if (!text->meaning.empty()) out.emplace("fullDescription", text_json(text->meaning));
    if (!text->fix.empty()) out.emplace("help", text_json(text->fix));
  }
  out.emplace("defaultConfiguration", json::object{{"level", level_of(rule.severity)}});
  return out;
}

}  // namespace

std::string sarif_text(std::span<const SeenFinding> findings, const SarifRun& run) {
  const std::vector<Rule> rules = rules_of(findings);
  const auto result = [&](const SeenFinding& seen) {
    const auto at = std::ranges::find(rules, seen.finding.code, &Rule::id);
    return result_json(seen, size_t(at - rules.begin()), run);
  };
  const json::object driver = {
      {"name", "palladion"}, {"version", version}, {"rules", array_of(rules, rule_json)}};
  const json::object invocation = {{"commandLine", run.command_line},
                                   {"exitCode", run.exit_code},
                                   {"executionSuccessful", run.exit_code <= 1}};
  const json::object only_run = {{"tool", json::object{{"driver", driver}}},
                                 {"invocations", json::array{invocation}},
                                 {"results", array_of(findings, result)}};
  return json_text(json::object{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                                {"version", "2.1.0"},
                                {"runs", json::array{only_run}}});
}

}  // namespace palladion::report
