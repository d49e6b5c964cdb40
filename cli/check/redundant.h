// `palladion check --redundant`: synchronisation that a right program can do without.
#pragma once

#include <string>

#include "cli/check/check_run.h"
#include "verify/redundant.h"

namespace palladion::cli {

void print_redundant(const Subject& subject, const verify::RedundancyReport& report);
std::string redundant_json(const Subject& subject, const CheckRequest& request,
                           const verify::RedundancyReport& report);

// The whole of `check --redundant`.
Outcome<ExitCode> check_redundant(const CheckRequest& request);

}  // namespace palladion::cli
