// `palladion check --mutate`: breaks one synchronisation instruction of a correct program at a time, and
// reports which broken programs the checkers miss.
#pragma once

#include <string>
#include <vector>

#include "cli/check/check_run.h"
#include "sim/mutate/equivalence.h"
#include "sim/mutate/mutate.h"

namespace palladion::cli {

// The result of a mutant. From `silent` on the checkers missed it, or the result is undecided.
enum class Fate : uint8_t {
  caught,      // a finding of severity error
  refused,     // it did not start
  equivalent,  // nothing was found, and a rule states why
  silent,      // nothing was found under any schedule, outputs as before
  wrong,       // nothing was found, but outputs are others
  strict,      // only findings of severity strict
  undecided,   // only findings of severity unknown or unsupported
  given_up,    // it exceeded its limit of instructions
  not_run,     // interrupted
};
std::string_view name(Fate fate);
inline bool survives(Fate fate) { return fate >= Fate::silent && fate != Fate::not_run; }

struct MutantOutcome {
  sim::check::Mutant mutant;
  Fate fate = Fate::not_run;
  std::vector<std::string> codes;  // codes of the findings that decided, each once
  std::string schedule;            // that decided; empty: all of them
  // A rule by which the mutant is equivalent, independent of the checkers.
  const sim::check::EquivalenceRule* rule = nullptr;
  bool contradicts() const { return rule != nullptr && fate == Fate::caught; }
};

struct MutationReport {
  std::vector<MutantOutcome> mutants;
  std::vector<std::string> schedules;
  uint64_t instructions = 0;  // of the original, under the first schedule
  double seconds = 0;
  ExitCode exit_code = exit_clean;

  size_t count(Fate fate) const;
  size_t survivors() const;
};

// Sizes and settings, where the user gave none, that fill a known kernel's pipeline and run quickly.
void take_small_shape(SubjectRequest& request);

Outcome<MutationReport> run_mutation(Subject& subject, const CheckRequest& request);

void print_mutation(const Subject& subject, const MutationReport& report);
std::string mutation_json(const Subject& subject, const RunRequest& request, const MutationReport& report);

// The whole of `check --mutate`.
Outcome<ExitCode> check_by_mutation(CheckRequest request);

}  // namespace palladion::cli
