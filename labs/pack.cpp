#include "labs/pack.h"

#include <fmt/format.h>

#include "verify/arrays/words.h"

namespace palladion::labs {

std::string syllabus(std::span<const Lab> labs) {
  std::string out = "# Syllabus\n";
  std::string group;
  int minutes = 0, all = 0;
  const auto end_group = [&] {
    if (!group.empty()) out += fmt::format("\n{} minutes.\n", minutes);
    minutes = 0;
  };
  for (const Lab& lab : labs) {
    if (lab.group != group) {
      end_group();
      group = lab.group;
      out += fmt::format("\n## {}\n\n| lab | idea | minutes |\n|---|---|---|\n", group);
    }
    out += fmt::format("| {} {} | {} | {} |\n", number_of(lab), lab.name, lab.title, lab.minutes);
    minutes += lab.minutes;
    all += lab.minutes;
  }
  end_group();
  return out + fmt::format("\n{} labs, {:.1f} hours.\n", labs.size(), all / 60.0);
}

namespace {

std::string rules_without_solution(std::string_view rules) {
  std::string out;
  bool is_solution = false;
  for (const std::string_view line : split(rules, "\n")) {
    if (line.starts_with("== ")) is_solution = line.starts_with("== solution");
    if (!is_solution) out.append(line).append("\n");
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace

std::map<std::string, std::string> without_solution(const Lab& lab) {
  return {{"README.md", std::string(lab.text)},
          {"kernel.cc", lab.variant("starter")},
          {"rules.txt", rules_without_solution(lab.rules)}};
}

}  // namespace palladion::labs
