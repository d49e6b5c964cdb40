// `palladion check --redundant`: synchronisation that a right program can do without.
#pragma once

#include "cli/check/check_run.h"
#include "verify/redundant.h"

namespace palladion::cli {

// The whole of `check --redundant`.
Outcome<ExitCode> check_redundant(CheckRequest request);

}  // namespace palladion::cli
