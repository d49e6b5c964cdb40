// `palladion check --mutate`: breaks one synchronisation instruction of a correct program at a time, and
// reports which broken programs the checkers miss.
#pragma once

#include <string>

#include "cli/check/check_run.h"
#include "verify/mutate/mutation.h"

namespace palladion::cli {

struct MutationReport : verify::MutationReport {
  double seconds = 0;
  ExitCode exit_code = exit_clean;
};

// Sizes and settings, where the user gave none, that fill a known kernel's pipeline and run quickly.
void take_small_shape(SubjectRequest& request);

Outcome<MutationReport> run_mutation(const Subject& subject, const CheckRequest& request);

// The whole of `check --mutate`.
Outcome<ExitCode> check_by_mutation(CheckRequest request);

}  // namespace palladion::cli
