// SARIF 2.1.0 (OASIS): what code hosts and editors read findings from.
#include <fmt/format.h>

#include <algorithm>

#include "cli/codes/codes.h"
#include "cli/findings/findings_json.h"

namespace palladion::cli {
namespace {

std::string_view level_of(sim::FindingSeverity severity) {
  if (severity == sim::FindingSeverity::error) return "error";
  return severity == sim::FindingSeverity::strict ? "warning" : "note";
}

void write_text(JsonWriter& json, std::string_view key, std::string_view text) {
  json.key(key).begin_object().member("text", text).end_object();
}

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

std::string who(const sim::Site& s) {
  std::string text = s.what.empty() ? std::string() : s.what + ": ";
  text += s.instruction.empty() ? "an instruction" : s.instruction;
  text += fmt::format(" by cta ({},{},{}) warp {}", s.cta.x, s.cta.y, s.cta.z, s.warp);
  return s.role.empty() ? text : text + fmt::format(" ({})", s.role);
}

void write_location(JsonWriter& json, const sim::Site& s, const SarifRun& run, int id) {
  const bool source = s.source.known();
  const std::string& file = source ? s.source.file : run.ptx_name;
  const uint32_t line = source ? s.source.line : s.ptx_line;
  json.begin_object();
  if (id >= 0) json.member("id", id);
  if (!file.empty() && line != 0) {
    json.key("physicalLocation").begin_object().key("artifactLocation").begin_object();
    json.member("uri", uri_of(file, run.folder)).end_object().key("region").begin_object();
    json.member("startLine", line);
    if (source && s.source.column != 0) json.member("startColumn", s.source.column);
    json.end_object().end_object();
  }
  write_text(json, "message", who(s));
  json.end_object();
}

// All of a finding's words in one text: viewers show little else.
std::string message_of(const SeenFinding& seen) {
  const sim::Finding& f = seen.finding;
  std::string text = f.message;
  const auto add = [&](std::string_view label, std::string_view words) {
    if (!words.empty()) text += fmt::format("\n{}: {}", label, words);
  };
  add("object", f.object);
  for (size_t i = 0; i < f.notes.size(); ++i)
    add(is_wait_graph(f) && i < f.sites.size() ? "waits for" : "note", f.notes[i]);
  add("missing", f.missing);
  add("rule", f.rule);
  add("help", f.help);
  add("replay", seen.replay);
  return text;
}

void write_suppressions(JsonWriter& json, const SeenFinding& seen) {
  json.key("suppressions").begin_array();
  if (seen.is_suppressed())
    json.begin_object().member("kind", "external").member("justification", seen.suppressed).end_object();
  json.end_array();
}

void write_result(JsonWriter& json, const SeenFinding& seen, size_t rule, const SarifRun& run) {
  const sim::Finding& f = seen.finding;
  json.begin_object()
      .member("ruleId", f.code)
      .member("ruleIndex", rule)
      .member("level", level_of(f.severity));
  write_text(json, "message", message_of(seen));
  json.key("locations").begin_array();
  if (!f.sites.empty()) write_location(json, f.sites.front(), run, -1);
  json.end_array().key("relatedLocations").begin_array();
  for (size_t i = 1; i < f.sites.size(); ++i) write_location(json, f.sites[i], run, int(i));
  json.end_array().key("partialFingerprints").begin_object();
  json.member("palladion/v1", fingerprint(f)).end_object();
  json.member("occurrenceCount", f.count);
  if (run.suppressions) write_suppressions(json, seen);
  json.key("properties").begin_object().member("severity", word(f.severity)).key("schedules").begin_array();
  for (const std::string& schedule : seen.schedules) json.value(schedule);
  json.end_array().end_object().end_object();
}

struct Rule {
  std::string id;
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

void write_rule(JsonWriter& json, const Rule& rule) {
  json.begin_object().member("id", rule.id);
  if (const CodeText* text = find_code(code_number(rule.id))) {
    write_text(json, "shortDescription", text->title);
    if (!text->meaning.empty()) write_text(json, "fullDescription", text->meaning);
    if (!text->fix.empty()) write_text(json, "help", text->fix);
  }
  json.key("defaultConfiguration")
      .begin_object()
      .member("level", level_of(rule.severity))
      .end_object()
      .end_object();
}

}  // namespace

std::string sarif_text(std::span<const SeenFinding> findings, const SarifRun& run) {
  const std::vector<Rule> rules = rules_of(findings);
  JsonWriter json;
  json.begin_object()
      .member("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
      .member("version", "2.1.0");
  json.key("runs").begin_array().begin_object().key("tool").begin_object().key("driver").begin_object();
  json.member("name", "palladion").member("version", version).key("rules").begin_array();
  for (const Rule& rule : rules) write_rule(json, rule);
  json.end_array().end_object().end_object().key("invocations").begin_array().begin_object();
  json.member("commandLine", run.command_line).member("exitCode", run.exit_code);
  json.member("executionSuccessful", run.exit_code <= exit_findings).end_object().end_array();
  json.key("results").begin_array();
  for (const SeenFinding& seen : findings) {
    const auto at = std::ranges::find(rules, seen.finding.code, &Rule::id);
    write_result(json, seen, size_t(at - rules.begin()), run);
  }
  json.end_array().end_object().end_array().end_object();
  return json.text();
}

}  // namespace palladion::cli
