// `palladion check --mutate`: breaks one synchronisation instruction of a correct program at a time, and
// reports which broken programs the checkers miss.
#pragma once

#include <string>

#include "cli/execute/execute.h"
#include "verify/mutate/mutation.h"

namespace palladion::cli {

struct MutationReport : verify::MutationReport {
  double seconds = 0;
  ExitCode exit_code = exit_clean;
};

// Sizes and settings, where the user gave none, that fill a known kernel's pipeline and run quickly.
Options with_small_shape(const Options& options);

Outcome<MutationReport> run_mutation(const Subject& subject, const Options& options);

void print_mutation(const Subject& subject, const MutationReport& report);
std::string mutation_json(const Subject& subject, const Options& options, const MutationReport& report);

// The whole of `check --mutate`.
Outcome<ExitCode> check_by_mutation(const Options& options);

}  // namespace palladion::cli
