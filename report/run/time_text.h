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
std::string why_text(const WhyReport& why, bool color);
// "#####-----", `share` of 0..1.
std::string bar(double share, int columns);

}  // namespace palladion::report
