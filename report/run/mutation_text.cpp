#include "report/run/mutation_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "report/run/run_json.h"
#include "report/text/numbers.h"
#include "report/text/row.h"
#include "report/text/words.h"

namespace palladion::report {
namespace {

using sim::check::Mutation;
using verify::MutantOutcome, verify::MutantResult, verify::MutationReport;

// A row of the table: the mutants of one operator.
struct Tally {
  size_t mutants = 0, caught = 0, equivalent = 0, survivors = 0, not_run = 0;
  std::map<std::string, size_t> codes;  // that caught, by the first finding

  void add(const MutantOutcome& m) {
    ++mutants;
    const bool noticed = m.result == MutantResult::caught || m.result == MutantResult::refused;
    caught += noticed;
    equivalent += m.result == MutantResult::equivalent;
    survivors += survives(m.result);
    not_run += m.result == MutantResult::not_run;
    if (noticed) ++codes[m.codes.front()];
  }
  std::string codes_text() const {
    std::vector<std::string> parts;
    for (const auto& [code, n] : codes) parts.push_back(n == 1 ? code : fmt::format("{} x{}", code, n));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
};

std::map<Mutation, Tally> tallies(const MutationReport& report) {
  std::map<Mutation, Tally> all;
  for (const MutantOutcome& m : report.mutants) all[m.mutant.mutation].add(m);
  return all;
}

std::string result_text(const MutantOutcome& m) {
  std::string text(name(m.result));
  if (!m.codes.empty()) text += fmt::format(" ({})", fmt::join(m.codes, ", "));
  return m.schedule.empty() ? text : fmt::format("{}, {}", text, m.schedule);
}

std::string line_text(std::string_view name, const Tally& t) {
  return fmt::format("  {:30} {:>7} {:>7} {:>10} {:>9}  {}\n", name, t.mutants, t.caught, t.equivalent,
                     t.survivors, t.codes_text());
}

std::string table_text(const MutationReport& report) {
  std::string text = fmt::format("\n  {:30} {:>7} {:>7} {:>10} {:>9}  {}\n", "operator", "mutants", "caught",
                                 "equivalent", "survivors", "caught by");
  Tally all;
  for (const auto& [mutation, tally] : tallies(report)) text += line_text(sim::check::name(mutation), tally);
  for (const MutantOutcome& m : report.mutants) all.add(m);
  all.codes.clear();
  return text + line_text("all", all);
}

std::string equivalent_text(const MutationReport& report) {
  if (report.count(MutantResult::equivalent) == 0) return {};
  std::string text = "\n  equivalent, because\n";
  for (const sim::check::EquivalenceRule& rule : sim::check::equivalence_rules()) {
    const auto n = std::ranges::count_if(report.mutants, [&](const MutantOutcome& m) {
      return m.result == MutantResult::equivalent && m.rule == &rule;
    });
    if (n != 0) text += fmt::format("  {:>5}  {}: {}\n", n, rule.name, rule.doc);
  }
  return text;
}

template <class Select>
std::string mutants_text(const Launched& launched, const MutationReport& report, std::string_view title,
                         Select&& select) {
  std::string text;
  for (const MutantOutcome& m : report.mutants) {
    if (!select(m)) continue;
    if (text.empty()) text = fmt::format("\n  {}\n", title);
    text += fmt::format("    {}\n      {}\n      {}\n", m.mutant.description(), place(launched, m.mutant),
                        result_text(m));
    if (m.contradicts()) text += fmt::format("      rule: {}\n", m.rule->name);
  }
  return text;
}

json::object mutant_json(const Launched& launched, const MutantOutcome& m) {
  json::object out = {{"operator", sim::check::name(m.mutant.mutation)},
                      {"result", name(m.result)},
                      {"function", launched.job->module->functions[m.mutant.function].name},
                      {"instruction", m.mutant.instruction},
                      {"before", m.mutant.before}};
  if (!m.mutant.after.empty()) out.emplace("after", m.mutant.after);
  append(out, {{"place", place(launched, m.mutant)}, {"codes", array_of(m.codes)}});
  if (!m.schedule.empty()) out.emplace("schedule", m.schedule);
  if (m.rule != nullptr) out.emplace("rule", m.rule->name);
  return out;
}

}  // namespace

std::string place(const Launched& launched, const sim::check::Mutant& m) {
  const isa::Module& module = *launched.job->module;
  sim::Site site{.ptx_line = m.ptx_line};
  if (const isa::SourceLoc* const at = module.source(m.source)) site.source = *at;
  return fmt::format("{}, instruction {} of `{}`", place_text(site, launched.ptx_name), m.instruction,
                     module.functions[m.function].name);
}

std::string mutation_text(const Launched& launched, const MutationReport& report, double seconds) {
  std::string text = table_text(report) + equivalent_text(report);
  text +=
      mutants_text(launched, report, "survivors", [](const MutantOutcome& m) { return survives(m.result); });
  text += mutants_text(launched, report, "caught, though a rule calls them equivalent",
                       [](const MutantOutcome& m) { return m.contradicts(); });
  const size_t n = report.mutants.size();
  const size_t broken = n - report.count(MutantResult::equivalent) - report.count(MutantResult::not_run);
  const size_t caught = report.count(MutantResult::caught) + report.count(MutantResult::refused);
  text += "\n" + row("mutants", fmt::format("{} of {} that break something are caught ({:.1f} %), {} are "
                                            "equivalent",
                                            caught, broken,
                                            broken == 0 ? 100.0 : 100.0 * double(caught) / double(broken),
                                            report.count(MutantResult::equivalent)));
  if (const size_t left = report.count(MutantResult::not_run); left != 0)
    text += row("interrupted", fmt::format("{} were not run", left));
  return text + row("schedules", fmt::format("{}", fmt::join(report.schedules, ", "))) +
         row("wall", human_seconds(seconds));
}

std::string mutation_json(const Launched& launched, const MutationReport& report, const Mutated& mutated) {
  json::object out = {{"command", "check --mutate"}}, counts;
  append(out, launched_json(launched));
  for (size_t i = 0; i < verify::mutant_results; ++i)
    counts.emplace(name(MutantResult(i)), report.count(MutantResult(i)));
  const auto rule_json = [](const sim::check::EquivalenceRule& rule) {
    return json::object{{"name", rule.name}, {"because", rule.doc}};
  };
  const auto mutant = [&](const MutantOutcome& m) { return mutant_json(launched, m); };
  append(out, {{"seed", mutated.seed},
               {"exit_code", mutated.exit_code},
               {"instructions", report.instructions},
               {"schedules", array_of(report.schedules)},
               {"counts", std::move(counts)},
               {"rules", array_of(sim::check::equivalence_rules(), rule_json)},
               {"mutants", array_of(report.mutants, mutant)},
               {"wall", json::object{{"threads", mutated.threads}, {"seconds", mutated.seconds}}}});
  return json_text(out);
}

}  // namespace palladion::report
