// The end of a command for scripts.
#pragma once

#include "isa/host/interrupt.h"
#include "isa/host/outcome.h"

namespace palladion::report {}

namespace palladion::cli {

using namespace host;    // commands fail, read files and run programs
using namespace report;  // they make its values and print its texts

enum ExitCode : int {
  exit_clean = 0,
  exit_findings = 1,  // findings, or outputs that differ
  exit_user_error = 2,
  exit_unsupported = 3,   // not in this version, not on this machine
  exit_internal = 70,     // internal error (EX_SOFTWARE)
  exit_not_written = 74,  // the report or a file could not be written (EX_IOERR)
  exit_interrupted = interrupted_code,
};

ExitCode exit_code_of(Failure::Kind kind);

}  // namespace palladion::cli
