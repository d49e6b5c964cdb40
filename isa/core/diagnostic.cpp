#include "isa/core/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

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

std::string source_line(const SourceLoc& loc, std::string_view memory) {
  if (loc.file.empty()) return nth_line(memory, loc.line);
  std::ifstream file(loc.file);
  std::string text;
  for (uint32_t i = 0; i < loc.line && std::getline(file, text); ++i) {
  }
  return file ? text : std::string{};
}

}  // namespace

std::string render(const Diagnostics& diagnostics, std::string_view source) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    out += d.code.empty() ? fmt::format("{}: {}\n", word(d.severity), d.message)
                          : fmt::format("{}[{}]: {}\n", word(d.severity), d.code, d.message);
    if (d.loc.known()) {
      const std::string file = d.loc.file.empty() ? "<ptx>" : d.loc.file;
      out += d.loc.column != 0 ? fmt::format("  --> {}:{}:{}\n", file, d.loc.line, d.loc.column)
                               : fmt::format("  --> {}:{}\n", file, d.loc.line);
      std::string text = source_line(d.loc, source);
      std::ranges::replace(text, '\t', ' ');  // the caret counts characters
      if (!text.empty()) {
        out += fmt::format("{:>5} | {}\n", d.loc.line, text);
        if (d.loc.column != 0) out += fmt::format("      | {:>{}}\n", '^', d.loc.column);
      }
    }
    if (!d.help.empty()) out += fmt::format("   = help: {}\n", d.help);
  }
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
