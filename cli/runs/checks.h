// The checkers of a run as words, their coverage and its exit code.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/findings/finding_text.h"
#include "cli/options/options.h"
#include "cli/support/outcome.h"
#include "verify/verdict/verdict.h"

namespace palladion::cli {

using verify::Verdict;
using verify::Watched;

// Names of the checks, as --check takes them, with what they find.
struct CheckWord {
  std::string_view name, doc;
};
std::span<const CheckWord> check_words();

// What --check asks for; without it `check` means all and every other command none. Faults and deadlocks are
// always reported: the machine itself detects them.
Outcome<sim::check::Options> checks_of(const Options& options);

// "1.2 M accesses, 64 asynchronous operations, 128 mbarrier phases (100 % forced), 12 barrier generations"
std::string coverage_text(const sim::check::Coverage& coverage);

// Of the findings alone: errors, and with `strict` what only breaks the letter, are findings; what could not
// be decided or run is unsupported.
ExitCode code_of_findings(std::span<const SeenFinding> findings, bool strict);

// The command line as a shell takes it, without the options named in `without` (with their values) and with
// `more` at its end.
std::string command_line(const Options& options, std::string_view command,
                         std::span<const std::string_view> without, std::string_view more);

}  // namespace palladion::cli
