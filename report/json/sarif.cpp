// SARIF 2.1.0 (OASIS): what code hosts and editors read findings from.
#include <fmt/format.h>

#include <map>

#include "report/json/findings_json.h"
#include "report/text/codes.h"
#include "report/text/words.h"

namespace palladion::report {
namespace {

std::string_view text_of(const json::value& value) { return std::string_view(value.as_string()); }

std::string_view level_of(std::string_view severity) {
  if (severity == word(sim::FindingSeverity::error)) return "error";
  return severity == word(sim::FindingSeverity::strict) ? "warning" : "note";
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

std::string thread_text(const json::object& site) {
  std::string text(text_of(site.at("what")));
  if (!text.empty()) text += ": ";
  const std::string_view instruction = text_of(site.at("instruction")), role = text_of(site.at("role"));
  text += instruction.empty() ? "an instruction" : instruction;
  const json::array& cta = site.at("cta").as_array();
  text +=
      fmt::format(" by cta ({},{},{}) warp {}", cta[0].to_number<uint32_t>(), cta[1].to_number<uint32_t>(),
                  cta[2].to_number<uint32_t>(), site.at("warp").to_number<uint32_t>());
  return role.empty() ? text : text + fmt::format(" ({})", role);
}

json::object file_json(std::string_view file, const SarifRun& run) {
  return {{"artifactLocation", json::object{{"uri", uri_of(file, run.folder)}}}};
}

json::object location_json(const json::object& site, const SarifRun& run, int id) {
  const json::value* const source = site.if_contains("source");
  const std::string_view file = source != nullptr ? text_of(source->at("file")) : run.ptx_name;
  const auto line = (source != nullptr ? source->at("line") : site.at("ptx_line")).to_number<uint32_t>();
  json::object out;
  if (id >= 0) out.emplace("id", id);
  if (!file.empty() && line != 0) {
    json::object region = {{"startLine", line}}, place = file_json(file, run);
    if (source != nullptr && source->at("column") != 0) region.emplace("startColumn", source->at("column"));
    place.emplace("region", std::move(region));
    out.emplace("physicalLocation", std::move(place));
  }
  out.emplace("message", text_json(thread_text(site)));
  return out;
}

// The whole finding in one text: viewers show little else.
std::string message_of(const json::object& f) {
  std::string text(text_of(f.at("message")));
  const auto add = [&](std::string_view label, const json::value& words) {
    if (!text_of(words).empty()) text += fmt::format("\n{}: {}", label, text_of(words));
  };
  add("object", f.at("object"));
  for (const json::value& wait : f.at("waits").as_array()) add("waits for", wait.at("text"));
  for (const json::value& note : f.at("notes").as_array()) add("note", note);
  for (const char* const member : {"missing", "rule", "help", "replay"}) add(member, f.at(member));
  return text;
}

json::array suppressions_json(const json::object& f) {
  if (!f.at("suppressed").as_bool()) return {};
  return {json::object{{"kind", "external"}, {"justification", f.at("reason")}}};
}

// Where no site has a file, a code host wants one all the same.
void give_a_file(json::object& location, const SarifRun& run) {
  if (!location.contains("physicalLocation") && !run.subject.empty())
    location.emplace("physicalLocation", file_json(run.subject, run));
}

json::object result_json(const json::object& f, size_t rule, const SarifRun& run) {
  const json::array& sites = f.at("sites").as_array();
  json::array locations, related;
  for (size_t i = 0; i < sites.size(); ++i)
    (i == 0 ? locations : related).push_back(location_json(sites[i].as_object(), run, i == 0 ? -1 : int(i)));
  if (locations.empty() && !run.subject.empty()) locations.emplace_back(json::object());
  for (json::value& location : locations) give_a_file(location.as_object(), run);
  json::object out = {{"ruleId", f.at("code")},
                      {"ruleIndex", rule},
                      {"level", level_of(text_of(f.at("severity")))},
                      {"message", text_json(message_of(f))},
                      {"locations", std::move(locations)},
                      {"relatedLocations", std::move(related)},
                      {"partialFingerprints", json::object{{"palladion/v1", f.at("fingerprint")}}},
                      {"occurrenceCount", f.at("count")}};
  if (run.suppressions) out.emplace("suppressions", suppressions_json(f));
  out.emplace("properties", json::object{{"severity", f.at("severity")}, {"schedules", f.at("schedules")}});
  return out;
}

// The first severity of each code.
using Rules = std::map<std::string_view, std::string_view>;

Rules rules_of(const json::array& findings) {
  Rules rules;
  for (const json::value& f : findings) rules.try_emplace(text_of(f.at("code")), text_of(f.at("severity")));
  return rules;
}

json::object rule_json(const Rules::value_type& rule) {
  json::object out = {{"id", rule.first}};
  if (const isa::CodeText* const text = find_code_text(rule.first)) {
    out.emplace("shortDescription", text_json(text->title));
    if (!text->meaning.empty()) out.emplace("fullDescription", text_json(text->meaning));
    if (!text->fix.empty()) out.emplace("help", text_json(text->fix));
  }
  out.emplace("defaultConfiguration", json::object{{"level", level_of(rule.second)}});
  return out;
}

}  // namespace

std::string sarif_text(const json::array& findings, const SarifRun& run) {
  const Rules rules = rules_of(findings);
  const auto result = [&](const json::value& f) {
    const auto at = rules.find(text_of(f.at("code")));
    return result_json(f.as_object(), size_t(std::distance(rules.begin(), at)), run);
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
