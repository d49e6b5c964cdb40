// The files that a command line names, examined before anything runs: a report must not be lost after an
// hour.
#pragma once

#include "cli/options/options.h"
#include "cli/support/outcome.h"

namespace palladion::cli {

// Every output can be written, none is a folder, an input or another output.
Outcome<void> check_paths(const Options& options);

}  // namespace palladion::cli
