// The clock's report for people.
#pragma once

#include <functional>
#include <string>

#include "report/run/time.h"

namespace palladion::report {

struct TimeView {
  std::function<std::string(const std::string& file, uint32_t line)> source_line = {};  // as FindingView's
  std::string folder;    // paths below it are printed relative to it
  std::string ptx_name;  // of the file that PTX lines refer to
  size_t lines = 10;     // of the source
  bool color = false;
};

// What to think of a chip's cycles: that power throttling is not modelled, and that nothing was measured.
std::string clock_caveat(bool measured);
// The rows of `run` about the time, and the section "where the time went".
std::string time_rows(const TimeReport& time);
std::string where_text(const TimeReport& time, const TimeView& view);
// What would help, and what the author of the kernel would change; `time.why` is there.
std::string why_text(const TimeReport& time, const TimeView& view);
// "what would help: 7 to 15 runs of about 1.2 s each, 8.4 to 18 s", before they begin.
std::string plan_text(const verify::WhyPlan& plan);
// "#####-----", `share` of 0..1.
std::string bar(double share, int columns);

}  // namespace palladion::report
