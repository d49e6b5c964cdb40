#include "report/text/markdown.h"

#include "report/text/paint.h"
#include "verify/arrays/words.h"

namespace palladion::report {
namespace {

std::string with_code(std::string_view line) {
  std::string out;
  while (!line.empty()) {
    const size_t open = line.find('`'),
                 close = open == std::string_view::npos ? open : line.find('`', open + 1);
    if (close == std::string_view::npos) return out.append(line);
    out += line.substr(0, open);
    out += paint(line.substr(open, close - open + 1), Style::cyan, true);
    line.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace

std::string paragraphs(std::string_view markdown, bool color) {
  std::string out;
  bool in_block = false;
  for (const std::string_view line : split(markdown, "\n")) {
    const bool fence = line.starts_with("```");
    if (fence) in_block = !in_block;
    if (!color)
      out += line;
    else if (fence || in_block)
      out += line;
    else if (line.starts_with('#'))
      out += paint(line, Style::bold, true);
    else
      out += with_code(line);
    out += '\n';
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

}  // namespace palladion::report
