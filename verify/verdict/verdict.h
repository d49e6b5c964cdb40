#pragma once
// The verdict on a launch, and what it rests on.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/explore/decide.h"
#include "sim/launch/launch.h"
#include "verify/verdict/findings.h"

namespace palladion::verify {

// What the checkers of one run covered.
struct Watched {
  sim::check::Coverage coverage;
  // Of the recorded run: whether it decides for all schedules, and why not.
  std::optional<sim::check::RunDecision> decision;
};

// clean: nothing was found and everything was checked. The worst verdict counts: errors, incomplete, strict,
// clean. interrupted: the caller stopped it, whatever was found until then.
struct Verdict {
  enum class Word : uint8_t { clean, strict, incomplete, errors, interrupted };
  // For what it holds.
  struct Scope {
    bool all_schedules = false;                         // one run decided, or the search looked through all
    std::optional<sim::check::Assumptions> under = {};  // one run decided for those in which these hold
    size_t tried = 0;                                   // schedules
  };
  Word word = Word::clean;
  std::string reason;  // "3 findings", "the run was interrupted"
  Scope scope = {};
};
std::string_view name(Verdict::Word word);

// `reasons`: why the checks are incomplete, one each; empty when they are complete.
Verdict verdict_of(std::span<const SeenFinding> findings, const std::vector<std::string>& reasons);
Verdict interrupted_verdict(std::span<const SeenFinding> findings);
// Why the checks of this run are incomplete. `watched` is null without checkers.
std::vector<std::string> incomplete_reasons(const sim::RunResult& result, const Watched* watched);

}  // namespace palladion::verify
