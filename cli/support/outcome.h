// The end of a command: an exit code for scripts, and the error message.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "isa/core/diagnostic.h"

namespace palladion::report {}

namespace palladion::cli {

using namespace report;  // commands make its values and print its texts

enum ExitCode : int {
  exit_clean = 0,
  exit_findings = 1,  // findings, or outputs that differ
  exit_user_error = 2,
  exit_unsupported = 3,    // not in this version, not on this machine
  exit_internal = 70,      // internal error (EX_SOFTWARE)
  exit_not_written = 74,   // the report or a file could not be written (EX_IOERR)
  exit_interrupted = 130,  // Ctrl-C, SIGTERM
};

struct Failure {
  ExitCode code = exit_user_error;
  std::string text;          // whole lines, as they are printed
  isa::CodeNumber why = {};  // of the first diagnostic, where it comes from one
};

template <class T>
using Outcome = tl::expected<T, Failure>;

// "error: ..." and "  help: ..." lines.
tl::unexpected<Failure> user_error(const std::string& message, const std::string& help = {});
tl::unexpected<Failure> unsupported(const std::string& message, const std::string& help = {});
// Unsupported when nothing but that is wrong. `source` is the text that places without a file refer to.
tl::unexpected<Failure> failure_of(const isa::Diagnostics& diagnostics, std::string_view source = {});

// A file that was probed before the run and cannot be written after it.
tl::unexpected<Failure> not_written(const std::string& message);

// "not in this version: --trace"
tl::unexpected<Failure> not_in_this_version(const std::string& what, const std::string& help = {});

}  // namespace palladion::cli
