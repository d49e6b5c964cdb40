#include "report/explain/paragraph.h"

#include <fmt/format.h>

#include <algorithm>

namespace palladion::report {

std::string wrapped(std::string_view text, std::string_view indent) {
  constexpr size_t width = 100;
  std::string out, line;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > width) {
      out += std::string(indent) + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return line.empty() ? out : out + std::string(indent) + line + "\n";
}

std::string labelled(std::string_view label, std::string_view listing) {
  std::string out;
  while (!listing.empty()) {
    const size_t end = std::min(listing.find('\n'), listing.size());
    out += fmt::format("  {:<6} {}\n", label, listing.substr(0, end));
    listing.remove_prefix(std::min(end + 1, listing.size()));
    label = "";
  }
  return out;
}

std::string labelled_part(std::string_view label, std::string_view text) {
  return text.empty() ? std::string() : fmt::format("  {}\n{}", label, wrapped(text, "    "));
}

}  // namespace palladion::report
