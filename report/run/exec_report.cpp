#include "report/run/exec_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>

#include "report/run/run_json.h"
#include "report/run/run_text.h"
#include "report/text/numbers.h"
#include "report/text/words.h"
#include "verify/verdict/verdict.h"

namespace palladion::report {
namespace {

using Kind = ExecKey::Kind;

std::string_view text_of(const json::value& v) { return std::string_view(v.as_string()); }

std::string dims_of(const json::value& dims) {
  const json::array& d = dims.as_array();
  return fmt::format("{}x{}x{}", d[0].to_number<uint32_t>(), d[1].to_number<uint32_t>(),
                     d[2].to_number<uint32_t>());
}

std::string launches_row(const json::value& launch, bool timed) {
  const json::object& l = launch.as_object();
  const auto count = [&](const char* name) { return l.at(name).to_number<uint64_t>(); };
  return fmt::format("  {:>8} {:>8} {:>12} {:>12} {:>10.3f}  {:<16} {:<14} {:<26} {}{}\n", count("launches"),
                     count("findings"), count("instructions"), timed ? std::to_string(count("cycles")) : "",
                     l.at(timed ? "microseconds" : "host_seconds").to_number<double>(), dims_of(l.at("grid")),
                     dims_of(l.at("block")), text_of(l.at("judged")), text_of(l.at("kernel").at("name")),
                     count("not_over") != 0 ? fmt::format("  ({} not over)", count("not_over")) : "");
}

// What a verdict counts of them.
std::vector<SeenFinding> severities_of(const std::vector<json::value>& findings) {
  std::vector<SeenFinding> out;
  for (const json::value& f : findings)
    for (const auto severity : {sim::FindingSeverity::error, sim::FindingSeverity::strict,
                                sim::FindingSeverity::unknown, sim::FindingSeverity::unsupported})
      if (text_of(f.at("severity")) == word(severity)) out.emplace_back().finding.severity = severity;
  return out;
}

}  // namespace

void ExecReport::take(uint64_t sender, const ExecKey& key, std::string text) {
  const auto [at, added] = number_of_.try_emplace(sender, programs_.size());
  if (added) programs_.emplace_back();
  programs_[at->second][key] = std::move(text);
}

std::vector<json::value> ExecReport::values(const Records& records, Kind kind) {
  std::vector<json::value> out;
  for (auto r = records.lower_bound({kind, 0}); r != records.end() && r->first.kind == kind; ++r)
    out.push_back(json::parse(r->second));
  return out;
}

std::vector<json::value> ExecReport::values(Kind kind) const {
  std::vector<json::value> out;
  for (const Records& records : programs_) std::ranges::move(values(records, kind), std::back_inserter(out));
  return out;
}

std::vector<json::value> ExecReport::members(Kind kind, std::string_view name) const {
  std::vector<json::value> out;
  for (const json::value& v : values(kind)) std::ranges::copy(v.at(name).as_array(), std::back_inserter(out));
  return out;
}

bool ExecReport::launched() const { return !values(Kind::launches).empty(); }

uint64_t ExecReport::errors() const {
  uint64_t n = 0;
  for (const json::value& v : values(Kind::errors)) n += v.to_number<uint64_t>();
  return n;
}

Verdict ExecReport::verdict() const {
  std::vector<std::string> reasons;
  uint64_t not_over = 0;
  for (const json::value& l : values(Kind::launches)) not_over += l.at("not_over").to_number<uint64_t>();
  if (not_over != 0)
    reasons.push_back(fmt::format("launches that were not over when the program ended: {}", not_over));
  for (const json::value& reason : members(Kind::findings, "incomplete"))
    reasons.emplace_back(text_of(reason));
  if (!values(Kind::unsupported).empty()) reasons.emplace_back("calls that are not there");
  if (!asked_.judges) reasons.emplace_back("nothing is checked without --check");
  Verdict v = verify::verdict_of(severities_of(members(Kind::findings, "findings")), reasons);
  if (errors() != 0 && v.word != Verdict::Word::errors)
    v = {Verdict::Word::errors, plural(errors(), "failed operation")};
  v.scope = scope();
  return v;
}

// What holds for every kernel.
Verdict::Scope ExecReport::scope() const {
  const std::vector<json::value> launches = values(Kind::launches);
  Verdict::Scope out{.all_schedules = !launches.empty(), .tried = 1};
  for (const json::value& l : launches) {
    const auto tried = l.at("schedules_tried").to_number<size_t>();
    out.tried = &l == &launches.front() ? tried : std::min(out.tried, tried);
    out.all_schedules &= l.at("decided").as_bool();
  }
  return out;
}

std::string ExecReport::table(size_t program) const {
  const bool timed = asked_.schedule.starts_with("hardware");
  const std::vector<json::value> launches = values(programs_[program], Kind::launches),
                                 missing = values(programs_[program], Kind::unsupported),
                                 computed = values(programs_[program], Kind::computed);
  if (launches.empty() && missing.empty() && computed.empty()) return {};
  std::string name;
  if (programs_.size() > 1)
    for (const json::value& v : values(programs_[program], Kind::program))
      name = fmt::format(" of program {}, {},", program + 1, text_of(v));
  std::string text = fmt::format("launches{} on a simulated {}, schedule {}, checks {}\n", name, asked_.arch,
                                 asked_.schedule, asked_.checks);
  text += fmt::format("  {:>8} {:>8} {:>12} {:>12} {:>10}  {:<16} {:<14} {:<26} {}\n", "launches", "findings",
                      "instructions", timed ? "cycles" : "", timed ? "us" : "host s", "grid", "block",
                      "judged", "kernel");
  for (const json::value& l : launches) text += launches_row(l, timed);
  for (const json::value& c : computed)
    text += fmt::format("  computed on the host, not checked: {}, {} times\n", text_of(c.at("call")),
                        c.at("count").to_number<uint64_t>());
  for (const json::value& m : missing)
    text += fmt::format("  unsupported: {}, {} times\n", text_of(m.at("call")),
                        m.at("count").to_number<uint64_t>());
  return text;
}

std::string ExecReport::text(const End& end, bool color) const {
  std::string tables, remarks;
  for (size_t i = 0; i < programs_.size(); ++i) tables += table(i);
  if (tables.empty()) return {};
  for (const json::value& texts : values(Kind::remarks))
    for (const json::value& t : texts.as_array()) remarks += fmt::format("{}\n", text_of(t));
  const std::string ended = end.manner.empty() ? "" : fmt::format("  the program ended {}\n", end.manner);
  return fmt::format("{}{}{}  verdict: {}\n", remarks, tables, ended, verdict_text(verdict(), color));
}

json::array ExecReport::findings() const { return array_of(members(Kind::findings, "findings")); }

std::string ExecReport::json(const End& end) const {
  json::array launches, programs;
  for (size_t i = 0; i < programs_.size(); ++i) {
    for (json::value& name : values(programs_[i], Kind::program)) programs.push_back(std::move(name));
    for (json::value& l : values(programs_[i], Kind::launches)) {
      l.as_object().emplace("program", i);
      launches.push_back(std::move(l));
    }
  }
  json::object out = {{"format", "palladion exec 2"},
                      {"arch", asked_.arch},
                      {"schedule", asked_.schedule},
                      {"checks", asked_.checks},
                      {"exit_code", end.exit_code},
                      {"ended", end.manner},
                      {"errors", errors()}};
  append(out, verdict_json(verdict()));
  append(out, {{"programs", std::move(programs)},
               {"launches", std::move(launches)},
               {"findings", findings()},
               {"computed_on_host", array_of(values(Kind::computed))},
               {"unsupported", array_of(values(Kind::unsupported))}});
  return json_text(out);
}

}  // namespace palladion::report
