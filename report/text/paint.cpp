#include "report/text/paint.h"

#include <fmt/format.h>

#include <array>

namespace palladion::report {

std::string paint(std::string_view text, Style style, bool color) {
  static constexpr std::array<int, 8> codes = {0, 1, 2, 31, 32, 33, 34, 36};
  if (!color || style == Style::plain) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<size_t>(style)], text);
}

}  // namespace palladion::report
