// One function a command; each prints its output and returns the exit code.
#pragma once

#include "cli/options/options.h"
#include "cli/support/outcome.h"

namespace palladion::cli {

Outcome<ExitCode> cmd_list(const Options& options);
Outcome<ExitCode> cmd_run(const Options& options);
Outcome<ExitCode> cmd_sweep(const Options& options);
Outcome<ExitCode> cmd_ptx(const Options& options);
Outcome<ExitCode> cmd_check(const Options& options);
Outcome<ExitCode> cmd_compare(const Options& options);
Outcome<ExitCode> cmd_explain(const Options& options);
Outcome<ExitCode> cmd_doctor(const Options& options);
Outcome<ExitCode> cmd_lab(const Options& options);
Outcome<ExitCode> cmd_new(const Options& options);
Outcome<ExitCode> cmd_exec(const Options& options);
Outcome<ExitCode> cmd_capture(const Options& options);

}  // namespace palladion::cli
