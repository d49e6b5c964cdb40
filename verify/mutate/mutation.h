#pragma once
// Breaks one synchronisation instruction of a correct program at a time: which broken programs do the
// checkers miss?
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "sim/mutate/equivalence.h"
#include "sim/mutate/mutate.h"
#include "verify/schedules/progress.h"
#include "verify/schedules/trial.h"

namespace palladion::verify {

// From `silent` on the checkers missed the mutant, or it is undecided.
enum class MutantResult : uint8_t {
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
inline constexpr size_t mutant_results = size_t(MutantResult::not_run) + 1;  // how many there are
std::string_view name(MutantResult result);
inline bool survives(MutantResult r) { return r >= MutantResult::silent && r != MutantResult::not_run; }

struct MutantOutcome {
  sim::check::Mutant mutant;
  MutantResult result = MutantResult::not_run;
  std::vector<std::string> codes;  // codes of the findings that decided, each once
  std::string schedule;            // that decided; empty: all of them
  // A rule by which the mutant is equivalent, independent of the checkers.
  const sim::check::EquivalenceRule* rule = nullptr;
  bool contradicts() const { return rule != nullptr && result == MutantResult::caught; }
};

struct MutationRequest {
  sim::check::Options checks;         // all of them
  std::optional<sim::Schedule> only;  // none: the adverse schedules, random ones, then a search
  uint64_t seed = 0;                  // of the first random schedule
  unsigned random = 3;                // random schedules
  unsigned threads = 0;               // of the host; 0: all
  bool strict = false;                // what breaks the letter of PTX alone is an error
};

struct MutationReport {
  std::vector<MutantOutcome> mutants;
  std::vector<std::string> schedules;
  uint64_t instructions = 0;  // of the original, under the first schedule
  bool interrupted = false;   // by Progress::stop

  size_t count(MutantResult result) const;
  size_t survivors() const;
  bool contradicted() const;  // a mutant that a rule calls equivalent was caught
};

// First with none done, then after each mutant.
struct MutationStep {
  size_t done = 0, mutants = 0;
};

// Why no mutant was run.
struct NoMutation {
  enum class Why : uint8_t { refused, has_findings, interrupted };
  Why why = Why::interrupted;
  isa::Diagnostics errors = {};  // of a launch that the machine refused
};

// The original must have no findings, or nothing could be concluded about its mutants.
tl::expected<MutationReport, NoMutation> mutate(const Job& job, const isa::ArchSpec& arch,
                                                const MutationRequest& request = {},
                                                const Progress<MutationStep>& progress = {});

}  // namespace palladion::verify
