// The checkers of a run, their coverage and the verdict.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/findings/findings.h"
#include "cli/options/run_words.h"
#include "cli/support/outcome.h"
#include "sim/check/checker.h"
#include "sim/explore/conditions.h"
#include "sim/explore/decide.h"
#include "sim/machine.h"

namespace palladion::cli {

// The coverage of one run.
struct Watched {
  sim::check::Coverage coverage;
  // Of the recorded run: whether it decides for all schedules, and why not.
  std::optional<sim::check::RunDecision> decision;
};

// "1.2 M accesses, 64 asynchronous operations, 128 mbarrier phases (100 % forced), 12 barrier generations"
std::string coverage_text(const sim::check::Coverage& coverage);

// clean: nothing was found and everything was checked. The worst verdict counts: errors, incomplete, strict,
// clean. interrupted: Ctrl-C came first, whatever was found until then.
struct Verdict {
  enum class Word : uint8_t { clean, strict, incomplete, errors, interrupted };
  Word word = Word::clean;
  std::string reason;  // "3 findings", "the run was interrupted"
};
// `reasons`: why the checks are incomplete, one each; empty when they are complete.
Verdict verdict_of(std::span<const SeenFinding> findings, const std::vector<std::string>& reasons);
Verdict interrupted_verdict(std::span<const SeenFinding> findings);
std::string_view name(Verdict::Word word);
// Why the checks of this run are incomplete.
std::vector<std::string> incomplete_reasons(const sim::RunResult& result, const Watched* watched);

// The command as a shell takes it, with the words behind it, without the options named in `without` (with
// their values) and with `more` at its end.
std::string command_line(const std::vector<std::string>& words, std::string_view command,
                         std::span<const std::string_view> without, std::string_view more);

}  // namespace palladion::cli
