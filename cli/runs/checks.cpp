#include "cli/runs/checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/support/program_name.h"
#include "cli/support/term.h"

namespace palladion::cli {
namespace {

std::string counted(uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", human_count(double(n)), what, n == 1 ? "" : "s");
}

bool is_plain(std::string_view word) {
  return !word.empty() && word.find_first_of(" ()[]{}*?!#~$&|;<>`'\"\\\t\n") == std::string_view::npos;
}

std::string shell_quoted(std::string_view word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string coverage_text(const sim::check::Coverage& c) {
  std::string text = counted(c.accesses, "access");
  if (c.accesses != 1) text.insert(text.size() - 1, "e");
  text += ", " + counted(c.async_operations, "asynchronous operation");
  const uint64_t phases = c.forced_phases + c.unforced_phases;
  text += ", " + counted(phases, "mbarrier phase");
  if (phases != 0) text += fmt::format(" ({} % forced)", c.forced_phases * 100 / phases);
  return text + ", " + counted(c.barrier_generations, "barrier generation");
}

Verdict verdict_of(std::span<const SeenFinding> findings, const std::vector<std::string>& reasons) {
  const FindingCounts n = count_findings(findings);
  const auto found = [](size_t count) { return fmt::format("{} finding{}", count, count == 1 ? "" : "s"); };
  if (n.errors != 0) return {Verdict::Word::errors, found(n.errors)};
  if (n.unsupported != 0) return {Verdict::Word::incomplete, "the machine does not run all of it"};
  if (n.unknown != 0) return {Verdict::Word::incomplete, found(n.unknown) + " undecided"};
  if (!reasons.empty())
    return {Verdict::Word::incomplete, reasons.size() == 1
                                           ? reasons.front()
                                           : fmt::format("{}; {} more", reasons.front(), reasons.size() - 1)};
  if (n.strict != 0) return {Verdict::Word::strict, found(n.strict)};
  return {};
}

Verdict interrupted_verdict(std::span<const SeenFinding> findings) {
  const size_t n = count_findings(findings).reported();
  return {Verdict::Word::interrupted, n == 0 ? "" : fmt::format("{} finding{} so far", n, n == 1 ? "" : "s")};
}

std::string_view name(Verdict::Word word) {
  static constexpr std::string_view names[] = {"clean", "strict", "incomplete", "errors", "interrupted"};
  return names[size_t(word)];
}

std::vector<std::string> incomplete_reasons(const sim::RunResult& result, const Watched* watched) {
  std::vector<std::string> reasons;
  if (result.interrupted) {
    reasons.emplace_back("the run was interrupted");
  } else if (!result.completed) {
    reasons.emplace_back("the run did not reach its end");
  }
  if (watched != nullptr)
    reasons.insert(reasons.end(), watched->coverage.incomplete.begin(), watched->coverage.incomplete.end());
  return reasons;
}

std::string command_line(const std::vector<std::string>& words, std::string_view command,
                         std::span<const std::string_view> without, std::string_view more) {
  const std::string& program = program_name();
  std::string text = fmt::format("{} {}", is_plain(program) ? program : shell_quoted(program), command);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string option = word.substr(0, word.find('='));
    if (std::ranges::find(without, option) != without.end()) {
      i += option == word;  // its value is the next word
      continue;
    }
    text += " " + (is_plain(word) ? word : shell_quoted(word));
  }
  return more.empty() ? text : fmt::format("{} {}", text, more);
}

}  // namespace palladion::cli
