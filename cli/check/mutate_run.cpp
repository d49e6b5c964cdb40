#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "cli/check/mutate.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "sim/explore/report.h"
#include "sim/schedule/worker_pool.h"

namespace palladion::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = sim::Schedule::Kind;
using sim::FindingSeverity;

constexpr unsigned usual_mutation_seeds = 3;
// A mutant may execute more than the original before it is stopped: it polls, its loops may repeat.
constexpr uint64_t patience = 10;
// States of the search through all schedules, for a mutant that no run detected.
constexpr uint64_t search_budget = 200'000;

std::vector<sim::Schedule> schedules_of(const Options& options) {
  if (!options.schedule.empty()) return {*schedule_of(options)};
  std::vector<sim::Schedule> all = {{Kind::functional, 0}, {Kind::latest, 0}, {Kind::earliest, 0}};
  for (unsigned i = 0; i < options.seeds.value_or(usual_mutation_seeds); ++i)
    all.push_back({Kind::seeded, options.seed + i});
  return all;
}

// The original's run under one schedule.
struct Original {
  sim::Schedule schedule;
  std::vector<std::string> outputs;
};

// Everything that the mutants' runs share and none of them changes.
struct Setting {
  const Subject& subject;
  sim::check::Options checks;
  std::vector<Original> originals;
  unsigned threads = 1;
  uint64_t budget = 0;
  bool strict = false;    // findings of severity strict count as errors
  bool searches = false;  // the search finds nothing wrong with the original
};

// A run with arrays of its own: a broken program may write where it should not.
SimOutcome run_module(const Setting& s, const isa::Module& module, const sim::Schedule& schedule,
                      sim::Observer* observer) {
  Job job = s.subject.job;
  job.module = &module;
  sim::Machine machine(*s.subject.arch);
  return palladion::run(job, machine,
                        {.schedule = schedule,
                         .threads = s.threads,
                         .max_instructions = s.budget,
                         .observer = observer,
                         .stop = &interrupt_flag()});
}

std::vector<std::string> codes_of(const sim::RunResult& result, FindingSeverity severity) {
  std::vector<std::string> codes;
  for (const sim::Finding& f : result.findings)
    if (f.severity == severity && std::ranges::find(codes, f.code.name()) == codes.end())
      codes.push_back(f.code.name());
  return codes;
}

// What counts as caught.
std::vector<std::string> errors_of(const sim::RunResult& result, bool strict) {
  std::vector<std::string> codes = codes_of(result, FindingSeverity::error);
  if (!strict) return codes;
  for (std::string& code : codes_of(result, FindingSeverity::strict)) codes.push_back(std::move(code));
  return codes;
}

bool was_given_up(const sim::RunResult& result) {
  return std::ranges::any_of(result.findings, [](const sim::Finding& f) { return f.code == "PLD3002"; });
}

void decide(MutantOutcome& mutant, Fate fate, std::vector<std::string> codes, const sim::Schedule& schedule) {
  mutant.fate = fate;
  mutant.codes = std::move(codes);
  mutant.schedule = sim::name(schedule);
}

// Results weaker than an error, worst first: codes that accompany differing outputs are reported with them.
std::vector<std::string> lesser_codes(const sim::RunResult& result) {
  std::vector<std::string> codes;
  for (const FindingSeverity severity :
       {FindingSeverity::unknown, FindingSeverity::unsupported, FindingSeverity::strict})
    for (std::string& code : codes_of(result, severity)) codes.push_back(std::move(code));
  return codes;
}

// The first result that is weaker than an error is kept; an error from a later schedule replaces it.
void judge(MutantOutcome& mutant, const SimOutcome& outcome, const Original& original, bool strict_too) {
  const sim::RunResult& r = outcome.result;
  if (!r.errors.empty()) return decide(mutant, Fate::refused, {r.errors.front().code}, original.schedule);
  if (auto codes = errors_of(r, strict_too); !codes.empty())
    return decide(mutant, Fate::caught, std::move(codes), original.schedule);
  if (mutant.fate != Fate::silent) return;
  std::vector<std::string> codes = lesser_codes(r);
  if (was_given_up(r)) return decide(mutant, Fate::given_up, std::move(codes), original.schedule);
  if (r.completed && hash_texts(outcome.outputs) != original.outputs)
    return decide(mutant, Fate::wrong, std::move(codes), original.schedule);
  if (codes.empty()) return;
  const bool strict = codes_of(r, FindingSeverity::strict).size() == codes.size();
  decide(mutant, strict ? Fate::strict : Fate::undecided, std::move(codes), original.schedule);
}

// Errors under any schedule of the synchronisation that the first run recorded.
std::vector<std::string> searched_codes(const Setting& s, const isa::Module& module) {
  sim::check::SkeletonObserver recorder;
  run_module(s, module, s.originals.front().schedule, &recorder);
  sim::RunResult result;
  result.findings =
      explore_run(recorder.recorded(), {.budget = search_budget, .budget_after_problem = search_budget / 10},
                  s.threads)
          .findings;
  return errors_of(result, s.strict);
}

void try_mutant(const Setting& s, MutantOutcome& mutant) {
  const isa::Module module = sim::check::apply(s.subject.program(), *s.subject.arch, mutant.mutant);
  mutant.fate = Fate::silent;
  for (const Original& original : s.originals) {
    sim::check::Checker checker(s.checks);
    const SimOutcome outcome = run_module(s, module, original.schedule, &checker);
    if (interrupted()) {
      mutant.fate = Fate::not_run;
      return;
    }
    judge(mutant, outcome, original, s.strict);
    if (mutant.fate == Fate::caught || mutant.fate == Fate::refused) return;
  }
  if (s.searches)
    if (auto codes = searched_codes(s, module); !codes.empty()) {
      mutant.fate = Fate::caught;
      mutant.codes = std::move(codes);
      mutant.schedule = "search";
    }
  if (mutant.fate == Fate::silent && mutant.rule != nullptr) mutant.fate = Fate::equivalent;
}

void try_all(const Setting& s, MutationReport& report) {
  Progress progress(s.subject.name, report.mutants.size());
  sim::WorkerPool(s.threads).for_each(report.mutants.size(), [&](size_t i, unsigned) {
    if (interrupted()) return;
    try_mutant(s, report.mutants[i]);
    progress.step();
  });
}

// Runs the original under every schedule; it must have no findings, or nothing could be concluded about its
// mutants.
Outcome<void> run_originals(Setting& s, const Options& options, MutationReport& report) {
  for (const sim::Schedule& schedule : schedules_of(options)) {
    sim::check::Checker checker(s.checks);
    const SimOutcome outcome = run_module(s, s.subject.program(), schedule, &checker);
    const sim::RunResult& r = outcome.result;
    if (!r.errors.empty()) return failure_of(r.errors, s.subject.job.ptx);
    if (r.interrupted)
      return tl::make_unexpected(Failure{exit_interrupted, "interrupted: no mutant has run\n"});
    if (!r.completed || !errors_of(r, s.strict).empty())
      return user_error("--mutate needs a program without findings, and this one has some",
                        fmt::format("`{} check` without --mutate prints its findings", program_name()));
    if (s.originals.empty()) report.instructions = r.instructions;
    report.schedules.push_back(sim::name(schedule));
    s.originals.push_back({schedule, hash_texts(outcome.outputs)});
  }
  s.budget = patience * report.instructions + 100'000;
  s.searches = options.schedule.empty() && searched_codes(s, s.subject.program()).empty();
  if (s.searches) report.schedules.emplace_back("then a search through all schedules");
  return {};
}

void look_for_rules(const Setting& s, MutationReport& report) {
  const isa::Module& module = s.subject.program();
  sim::check::RunFacts facts(module);
  run_module(s, module, s.originals.front().schedule, &facts);
  for (MutantOutcome& m : report.mutants)
    m.rule = sim::check::equivalent(module, *s.subject.arch, facts, m.mutant);
}

}  // namespace

size_t MutationReport::count(Fate fate) const {
  return size_t(std::ranges::count(mutants, fate, &MutantOutcome::fate));
}

size_t MutationReport::survivors() const {
  return size_t(std::ranges::count_if(mutants, [](const MutantOutcome& m) { return survives(m.fate); }));
}

Outcome<MutationReport> run_mutation(Subject& subject, const Options& options) {
  const auto start = Clock::now();
  MutationReport report;
  Setting setting{.subject = subject,
                  .checks = *checks_of(options),
                  .threads = host_threads(options),
                  .strict = options.strict};
  if (const auto ran = run_originals(setting, options, report); !ran) return tl::make_unexpected(ran.error());
  if (interrupted())
    return tl::make_unexpected(Failure{exit_interrupted, "interrupted: no mutant has run\n"});
  for (sim::check::Mutant& mutant :
       sim::check::mutants_of(subject.program(), *subject.arch, subject.job.entry))
    report.mutants.push_back({.mutant = std::move(mutant)});
  look_for_rules(setting, report);
  try_all(setting, report);
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const bool contradiction = std::ranges::any_of(report.mutants, &MutantOutcome::contradicts);
  report.exit_code = interrupted()                              ? exit_interrupted
                     : report.survivors() != 0 || contradiction ? exit_findings
                                                                : exit_clean;
  return report;
}

}  // namespace palladion::cli
