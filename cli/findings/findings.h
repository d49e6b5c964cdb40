// The findings of one or several runs of a subject: merged, sorted, counted.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/support/outcome.h"
#include "report/text/finding_text.h"

namespace palladion::cli {

using report::exploration;
using report::finding_text;
using report::findings_text;
using report::FindingView;
using report::read_source_line;
using report::SeenFinding;
using report::trimmed;
using report::within;
using report::word;

// Adds one run's findings. A known mistake gains the schedule; its count is that of the first one.
void merge_findings(std::vector<SeenFinding>& into, const std::vector<sim::Finding>& findings,
                    const std::string& schedule, const std::string& replay = {});
// Errors first, then unknown, strict, unsupported; findings of every schedule before findings of few, which
// often are their consequence; otherwise in the order in which they were seen.
void sort_findings(std::vector<SeenFinding>& findings);

struct FindingCounts {
  size_t errors = 0, strict = 0, unknown = 0, unsupported = 0, suppressed = 0;
  size_t reported() const { return errors + strict + unknown + unsupported; }
};
FindingCounts count_findings(std::span<const SeenFinding> findings);
// Of the findings alone: errors, and with `strict` what only breaks the letter, are findings; what could not
// be decided or run is unsupported.
ExitCode code_of_findings(std::span<const SeenFinding> findings, bool strict);

}  // namespace palladion::cli
