#include "isa/core/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>

#include "isa/core/visible.h"

namespace palladion::isa {
namespace {

std::string_view word(Severity s) {
  switch (s) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::unsupported:
      return "unsupported";
  }
  return "error";
}

std::string nth_line(std::string_view text, uint32_t line) {
  for (uint32_t i = 1; i < line; ++i) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return std::string(text.substr(0, text.find('\n')));
}

// The errors that are shown: the wrong file has thousands.
constexpr size_t most_shown = 32;

std::string quoted_line(const SourceLoc& loc, std::string_view memory) {
  const std::string line = loc.file.empty() ? nth_line(memory, loc.line) : line_of_file(loc.file, loc.line);
  if (line.empty()) return {};
  size_t column = loc.column;
  std::string out = fmt::format("{:>5} | {}\n", loc.line, excerpt(line, column));
  if (column != 0) out += fmt::format("      | {:>{}}\n", '^', column);
  return out;
}

std::string text_of(const Diagnostic& d, std::string_view source) {
  std::string out = !d.code.known() ? fmt::format("{}: {}\n", word(d.severity), d.message)
                                    : fmt::format("{}[{}]: {}\n", word(d.severity), d.code.name(), d.message);
  if (d.loc.known()) {
    const std::string file = d.loc.file.empty() ? "<ptx>" : d.loc.file;
    out += d.loc.column != 0 ? fmt::format("  --> {}:{}:{}\n", file, d.loc.line, d.loc.column)
                             : fmt::format("  --> {}:{}\n", file, d.loc.line);
    out += quoted_line(d.loc, source);
  }
  if (!d.help.empty()) out += fmt::format("   = help: {}\n", d.help);
  return visible(out);
}

}  // namespace

std::string line_of_file(const std::string& path, uint32_t line) {
  constexpr size_t longest = 1 << 16;  // of a line that is shown
  std::error_code none;
  // A file of /proc says that it is empty, and may give nothing for ever.
  if (!std::filesystem::is_regular_file(path, none) || std::filesystem::file_size(path, none) == 0) return {};
  std::ifstream file(path);
  for (uint32_t i = 1; i < line && file; ++i) file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  std::string text(longest, '\0');
  size_t size = 0;
  for (int c = 0; size < longest && (c = file.get()) != EOF && c != '\n';)
    text[size++] = static_cast<char>(c);
  text.resize(size);
  return text;
}

std::string render(const Diagnostics& diagnostics, std::string_view source) {
  std::string out;
  for (const Diagnostic& d : std::span(diagnostics).first(std::min(diagnostics.size(), most_shown)))
    out += text_of(d, source);
  if (diagnostics.size() > most_shown) out += fmt::format("and {} more\n", diagnostics.size() - most_shown);
  return out;
}

void check_failed(const char* expression, const char* file, int line, const std::string& detail) {
  fmt::print(stderr,
             "palladion: internal error at {}:{}: {} ({})\nThis is a bug of palladion, please report it.\n",
             file, line, expression, detail);
  std::fflush(stderr);
  std::exit(70);
}

}  // namespace palladion::isa
