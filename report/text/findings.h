// What reports show of the checks: the merged findings of `verify` and its verdict.
#pragma once

#include "verify/verdict/findings.h"
#include "verify/verdict/verdict.h"

namespace palladion::report {

using verify::exploration;
using verify::SeenFinding;
using verify::Verdict;
using verify::Watched;

}  // namespace palladion::report
