// The checkers of a run as words, and the exit code of its findings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/run_words.h"
#include "cli/support/exit_code.h"
#include "report/text/findings.h"
#include "sim/check/checker.h"

namespace palladion::cli {

// Of the findings alone: errors, and with `strict` what only breaks the letter, are findings; what could not
// be decided or run is unsupported.
ExitCode code_of_findings(std::span<const SeenFinding> findings, bool strict);

// The command as a shell takes it, with the words behind it, without the options named in `without` (with
// their values) and with `more` at its end.
std::string command_line(const std::vector<std::string>& words, std::string_view command,
                         std::span<const std::string_view> without, std::string_view more);

}  // namespace palladion::cli
