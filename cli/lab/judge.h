// The judge of `lab check` and `lab grade`, from both sides.
#pragma once

#include <optional>

#include "cli/lab/lab_commands.h"
#include "labs/engine/judge_process.h"
#include "report/json/document.h"

namespace palladion::cli {

// What a judge is asked for by these options.
labs::JudgeOrder judge_order(const std::filesystem::path& file, const labs::Lab& lab,
                             const LabRequest& request);

// Its answer, the last line of its output: {"verdict", "text"}, and with --report {"page"}, or {"no_page"},
// the reason. Nothing where it came to no verdict.
std::optional<json::object> answer_in(const Ended& judge);
// "no verdict within the limit of 60 seconds"
std::string too_late(const LabRequest& request);

}  // namespace palladion::cli
