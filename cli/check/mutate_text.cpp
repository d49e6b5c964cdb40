#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "cli/check/mutate.h"
#include "cli/support/output.h"
#include "cli/support/term.h"
#include "report/run/run_json.h"
#include "report/run/run_text.h"

namespace palladion::cli {
namespace {

using sim::check::Mutation;

using verify::MutantOutcome;
using verify::MutantResult;

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

void print_line(std::string_view name, const Tally& t) {
  print_out("  {:30} {:>7} {:>7} {:>10} {:>9}  {}\n", name, t.mutants, t.caught, t.equivalent, t.survivors,
            t.codes_text());
}

void print_table(const MutationReport& report) {
  print_out("\n  {:30} {:>7} {:>7} {:>10} {:>9}  {}\n", "operator", "mutants", "caught", "equivalent",
            "survivors", "caught by");
  Tally all;
  for (const auto& [mutation, tally] : tallies(report)) print_line(sim::check::name(mutation), tally);
  for (const MutantOutcome& m : report.mutants) all.add(m);
  all.codes.clear();
  print_line("all", all);
}

void print_equivalent(const MutationReport& report) {
  if (report.count(MutantResult::equivalent) == 0) return;
  print_out("\n  equivalent, because\n");
  for (const sim::check::EquivalenceRule& rule : sim::check::equivalence_rules()) {
    const auto n = std::ranges::count_if(report.mutants, [&](const MutantOutcome& m) {
      return m.result == MutantResult::equivalent && m.rule == &rule;
    });
    if (n != 0) print_out("  {:>5}  {}: {}\n", n, rule.name, rule.doc);
  }
}

template <class Select>
void print_mutants(const Subject& subject, const MutationReport& report, std::string_view title,
                   Select&& select) {
  bool first = true;
  for (const MutantOutcome& m : report.mutants) {
    if (!select(m)) continue;
    if (std::exchange(first, false)) print_out("\n  {}\n", title);
    print_out("    {}\n      {}\n      {}\n", m.mutant.description(), place(subject, m.mutant),
              result_text(m));
    if (m.contradicts()) print_out("      rule: {}\n", m.rule->name);
  }
}

json::object mutant_json(const Subject& subject, const MutantOutcome& m) {
  json::object out = {{"operator", sim::check::name(m.mutant.mutation)},
                      {"fate", name(m.result)},
                      {"function", subject.program().functions[m.mutant.function].name},
                      {"instruction", m.mutant.instruction},
                      {"before", m.mutant.before}};
  if (!m.mutant.after.empty()) out.emplace("after", m.mutant.after);
  append(out, {{"place", place(subject, m.mutant)}, {"codes", array_of(m.codes)}});
  if (!m.schedule.empty()) out.emplace("schedule", m.schedule);
  if (m.rule != nullptr) out.emplace("rule", m.rule->name);
  return out;
}

}  // namespace

std::string place(const Subject& subject, const sim::check::Mutant& m) {
  const isa::Module& module = subject.program();
  sim::Site site{.ptx_line = m.ptx_line};
  if (m.source < module.source_locs.size()) site.source = module.source_locs[m.source];
  return fmt::format("{}, instruction {} of `{}`", report::place_text(site, subject.ptx_name), m.instruction,
                     module.functions[m.function].name);
}

void print_mutation(const Subject& subject, const MutationReport& report) {
  print_table(report);
  print_equivalent(report);
  print_mutants(subject, report, "survivors", [](const MutantOutcome& m) { return survives(m.result); });
  print_mutants(subject, report, "caught, though a rule calls them equivalent",
                [](const MutantOutcome& m) { return m.contradicts(); });
  const size_t n = report.mutants.size();
  const size_t broken = n - report.count(MutantResult::equivalent) - report.count(MutantResult::not_run);
  const size_t caught = report.count(MutantResult::caught) + report.count(MutantResult::refused);
  print_out("\n{}", row("mutants", fmt::format("{} of {} that break something are caught ({:.1f} %), {} are "
                                               "equivalent",
                                               caught, broken,
                                               broken == 0 ? 100.0 : 100.0 * double(caught) / double(broken),
                                               report.count(MutantResult::equivalent))));
  if (const size_t left = report.count(MutantResult::not_run); left != 0)
    print_out(row("interrupted", fmt::format("{} were not run", left)));
  print_out(row("schedules", fmt::format("{}", fmt::join(report.schedules, ", "))));
  print_out(row("wall", human_seconds(report.seconds)));
}

std::string mutation_json(const Subject& subject, const RunRequest& request, const MutationReport& report) {
  json::object out = {{"command", "check --mutate"}}, counts;
  append(out, launched_json(launched(subject)));
  for (size_t i = 0; i < verify::mutant_results; ++i)
    counts.emplace(name(MutantResult(i)), report.count(MutantResult(i)));
  const auto rule_json = [](const sim::check::EquivalenceRule& rule) {
    return json::object{{"name", rule.name}, {"because", rule.doc}};
  };
  const auto mutant = [&](const MutantOutcome& m) { return mutant_json(subject, m); };
  append(out, {{"seed", request.subject.seed},
               {"exit_code", int(report.exit_code)},
               {"instructions", report.instructions},
               {"schedules", array_of(report.schedules)},
               {"counts", std::move(counts)},
               {"rules", array_of(sim::check::equivalence_rules(), rule_json)},
               {"mutants", array_of(report.mutants, mutant)},
               {"wall", json::object{{"threads", request.machine.threads}, {"seconds", report.seconds}}}});
  return json_text(out);
}

}  // namespace palladion::cli
