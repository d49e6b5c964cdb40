// Findings of a subject, as the program shows them.
#pragma once

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
using verify::FindingCounts;

}  // namespace palladion::cli
