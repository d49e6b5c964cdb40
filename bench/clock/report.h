// The verdict as text, as JSON and as bench/clock/validation.md.
#pragma once

#include <span>
#include <string>

#include "bench/clock/validation.h"

namespace palladion::bench {

struct Verdict {
  std::vector<Judged> cases;
  std::vector<Judged> sweep;
  bool recorded_clock = true;
};

// One case as a line: cycles of both sides and the error, cold and warm.
std::string line_of(const Judged& judged);
std::string text_of(const Verdict& verdict);
std::string json_of(const Verdict& verdict);
std::string markdown_of(const Verdict& verdict);

}  // namespace palladion::bench
