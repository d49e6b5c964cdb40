#include "cli/runs/checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/support/program_name.h"
#include "isa/host/process.h"

namespace palladion::cli {

ExitCode code_of_findings(std::span<const SeenFinding> findings, bool strict) {
  const verify::FindingCounts counts = count_findings(findings);
  if (counts.errors != 0 || (strict && counts.strict != 0)) return exit_findings;
  return counts.unknown + counts.unsupported != 0 ? exit_unsupported : exit_clean;
}

std::string command_line(const std::vector<std::string>& words, std::string_view command,
                         std::span<const std::string_view> without, std::string_view more) {
  const std::string& program = program_name();
  std::string text = fmt::format("{} {}", shell_word(program), command);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string option = word.substr(0, word.find('='));
    if (std::ranges::find(without, option) != without.end()) {
      i += option == word;  // its value is the next word
      continue;
    }
    text += " " + shell_word(word);
  }
  return more.empty() ? text : fmt::format("{} {}", text, more);
}

}  // namespace palladion::cli
