#include "report/text/row.h"

#include <fmt/format.h>

#include "verify/arrays/words.h"

namespace palladion::report {

std::string row(std::string_view label, std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, "\n")) {
    out += fmt::format("  {:<11} {}\n", label, line);
    label = "";
  }
  return out;
}

}  // namespace palladion::report
