#include "verify/mutate/mutation.h"

#include <algorithm>
#include <mutex>

#include "sim/explore/report.h"
#include "sim/schedule/worker_pool.h"
#include "verify/schedules/schedules.h"

namespace palladion::verify {
namespace {

using sim::FindingSeverity;
using sim::check::Conditions;
using Codes = std::vector<std::string>;

// A mutant may execute more than the original before it is stopped: it polls, its loops may repeat.
constexpr uint64_t times_the_original = 10;
// States of the search through all schedules, for a mutant that no run detected.
constexpr uint64_t search_budget = 200'000;

Codes codes_of(const std::vector<sim::Finding>& findings, FindingSeverity severity) {
  Codes codes;
  for (const sim::Finding& f : findings)
    if (f.severity == severity && std::ranges::find(codes, f.code.name()) == codes.end())
      codes.push_back(f.code.name());
  return codes;
}

// What counts as caught.
Codes errors_of(const std::vector<sim::Finding>& findings, bool strict) {
  Codes codes = codes_of(findings, FindingSeverity::error);
  if (!strict) return codes;
  for (std::string& code : codes_of(findings, FindingSeverity::strict)) codes.push_back(std::move(code));
  return codes;
}

// Results weaker than an error, worst first: codes that accompany differing outputs are reported with them.
Codes lesser_codes(const std::vector<sim::Finding>& findings) {
  Codes codes;
  for (const FindingSeverity severity :
       {FindingSeverity::unknown, FindingSeverity::unsupported, FindingSeverity::strict})
    for (std::string& code : codes_of(findings, severity)) codes.push_back(std::move(code));
  return codes;
}

void decide(MutantOutcome& mutant, MutantResult result, Codes codes, const std::string& schedule) {
  mutant.result = result;
  mutant.codes = std::move(codes);
  mutant.schedule = schedule;
}

// The original's run under one schedule.
struct Original {
  Conditions conditions;
  std::vector<uint64_t> outputs;
};

// The first result that is weaker than an error is kept; an error from a later schedule replaces it.
void judge(MutantOutcome& mutant, const SimOutcome& outcome, const Original& original, bool strict_too) {
  const sim::RunResult& r = outcome.result;
  const std::string schedule = name(original.conditions);
  if (!r.errors.empty())
    return decide(mutant, MutantResult::refused, {r.errors.front().code.name()}, schedule);
  if (auto codes = errors_of(r.findings, strict_too); !codes.empty())
    return decide(mutant, MutantResult::caught, std::move(codes), schedule);
  if (mutant.result != MutantResult::silent) return;
  Codes codes = lesser_codes(r.findings);
  if (was_given_up(r)) return decide(mutant, MutantResult::given_up, std::move(codes), schedule);
  if (r.completed && hashes_of(outcome.outputs) != original.outputs)
    return decide(mutant, MutantResult::wrong, std::move(codes), schedule);
  if (codes.empty()) return;
  const bool strict = codes_of(r.findings, FindingSeverity::strict).size() == codes.size();
  decide(mutant, strict ? MutantResult::strict : MutantResult::undecided, std::move(codes), schedule);
}

class Mutation {
 public:
  Mutation(const Job& job, const isa::ArchSpec& arch, const MutationRequest& request,
           const Progress<MutationStep>& progress)
      : job_(job), arch_(arch), request_(request), progress_(progress) {}

  tl::expected<MutationReport, NoMutation> run() {
    if (auto why = run_originals()) return tl::make_unexpected(std::move(*why));
    find_mutants();
    MutationStep step{.mutants = report_.mutants.size()};
    if (progress_.step) progress_.step(step);
    std::mutex stepping;
    sim::WorkerPool(request_.threads).for_each(report_.mutants.size(), [&](size_t i, unsigned) {
      if (progress_.stopped()) return;
      try_mutant(report_.mutants[i]);
      const std::lock_guard lock(stepping);
      ++step.done;
      if (progress_.step) progress_.step(step);
    });
    report_.interrupted = progress_.stopped();
    return std::move(report_);
  }

 private:
  // A run with arrays of its own: a broken program may write where it should not.
  SimOutcome run_module(const isa::Module& module, const Conditions& conditions,
                        const sim::check::Options& checks, sim::Observer* more = nullptr) const {
    Job job = job_;
    job.module = &module;
    sim::RunOptions run;
    conditions.apply(run);
    run.threads = request_.threads;
    run.max_instructions = budget_;
    run.stop = progress_.stop;
    const std::span<sim::Observer* const> others(&more, more == nullptr ? 0 : 1);
    return run_checked(job, arch_, std::move(run), checks, nullptr, others).outcome;
  }

  std::vector<Conditions> conditions() const {
    if (request_.only) return {{.schedule = *request_.only, .order = {}}};
    std::vector<Conditions> all = adverse_conditions();
    for (const Conditions& c : random_conditions(request_.seed, request_.random)) all.push_back(c);
    return all;
  }

  std::optional<NoMutation> run_originals() {
    for (const Conditions& c : conditions()) {
      const SimOutcome outcome = run_module(*job_.module, c, request_.checks);
      const sim::RunResult& r = outcome.result;
      if (!r.errors.empty()) return NoMutation{NoMutation::Why::refused, r.errors};
      if (r.interrupted) return NoMutation{NoMutation::Why::interrupted};
      if (!r.completed || !errors_of(r.findings, request_.strict).empty())
        return NoMutation{NoMutation::Why::has_findings};
      if (originals_.empty()) report_.instructions = r.instructions;
      report_.schedules.push_back(name(c));
      originals_.push_back({c, hashes_of(outcome.outputs)});
    }
    budget_ = times_the_original * report_.instructions + 100'000;
    searches_ = !request_.only && searched_codes(*job_.module).empty();
    if (searches_) report_.schedules.emplace_back("then a search through all schedules");
    if (progress_.stopped()) return NoMutation{NoMutation::Why::interrupted};
    return std::nullopt;
  }

  void find_mutants() {
    const isa::Module& module = *job_.module;
    sim::check::RunFacts facts(module);
    run_module(module, originals_.front().conditions, no_checks, &facts);
    for (sim::check::Mutant& mutant : sim::check::mutants_of(module, arch_, job_.entry)) {
      const auto* rule = sim::check::equivalent(module, arch_, facts, mutant);
      report_.mutants.push_back({.mutant = std::move(mutant), .rule = rule});
    }
  }

  // Errors under any schedule of the synchronisation that the first run recorded.
  Codes searched_codes(const isa::Module& module) const {
    sim::check::SkeletonObserver recorder;
    run_module(module, originals_.front().conditions, no_checks, &recorder);
    return errors_of(
        explore_run(recorder.recorded(),
                    {.budget = search_budget, .budget_after_problem = search_budget / 10}, request_.threads)
            .findings,
        request_.strict);
  }

  void try_mutant(MutantOutcome& mutant) const {
    const isa::Module module = sim::check::apply(*job_.module, arch_, mutant.mutant);
    mutant.result = MutantResult::silent;
    for (const Original& original : originals_) {
      const SimOutcome outcome = run_module(module, original.conditions, request_.checks);
      if (progress_.stopped()) {
        mutant.result = MutantResult::not_run;
        return;
      }
      judge(mutant, outcome, original, request_.strict);
      if (mutant.result == MutantResult::caught || mutant.result == MutantResult::refused) return;
    }
    if (searches_)
      if (Codes codes = searched_codes(module); !codes.empty())
        decide(mutant, MutantResult::caught, std::move(codes), "search");
    if (mutant.result == MutantResult::silent && mutant.rule != nullptr)
      mutant.result = MutantResult::equivalent;
  }

  const Job& job_;
  const isa::ArchSpec& arch_;
  const MutationRequest& request_;
  const Progress<MutationStep>& progress_;
  MutationReport report_;
  std::vector<Original> originals_;
  uint64_t budget_ = 0;    // warp instructions of a run; 0: no limit
  bool searches_ = false;  // the search finds nothing wrong with the original
};

}  // namespace

std::string_view name(MutantResult result) {
  static constexpr std::string_view names[mutant_results] = {"caught",    "refused",       "equivalent",
                                                             "silent",    "wrong outputs", "strict",
                                                             "undecided", "given up",      "not run"};
  return names[size_t(result)];
}

size_t MutationReport::count(MutantResult result) const {
  return size_t(std::ranges::count(mutants, result, &MutantOutcome::result));
}

size_t MutationReport::survivors() const {
  return size_t(std::ranges::count_if(mutants, [](const MutantOutcome& m) { return survives(m.result); }));
}

bool MutationReport::contradicted() const {
  return std::ranges::any_of(mutants, &MutantOutcome::contradicts);
}

tl::expected<MutationReport, NoMutation> mutate(const Job& job, const isa::ArchSpec& arch,
                                                const MutationRequest& request,
                                                const Progress<MutationStep>& progress) {
  return Mutation(job, arch, request, progress).run();
}

}  // namespace palladion::verify
