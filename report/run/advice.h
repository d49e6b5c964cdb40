// What the author of a kernel would change, each statement with what it follows from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/run/time.h"

namespace palladion::report {

struct Advice {
  std::string_view about;  // "occupancy"
  std::string text;
  std::string from;  // "counters", "a run with stages=5"
};

// Nothing is stated where nothing would help; the first is always the share of the chip's peak. `time.why` is
// there. `folder`: places below it are named relative to it.
std::vector<Advice> advice_of(const TimeReport& time, std::string_view folder);

}  // namespace palladion::report
