#include "cli/runs/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

constexpr CheckWord checks[] = {
    {"race", "conflicting accesses that nothing orders: threads, asynchronous operations, both proxies"},
    {"barrier", "mbarriers, named barriers, cluster barriers and groups against the rules of PTX"},
    {"memory", "uninitialised bytes, layouts that do not match, memory that is already released"},
    {"numerics", "infinities, NaNs and results that depend on an order"},
    {"fault", "always on: bad addresses, misaligned accesses, illegal instructions and operands"},
    {"deadlock", "always on: a run in which no warp can continue, and what each warp waits for"},
};

bool always_on(std::string_view word) { return word == "fault" || word == "deadlock"; }

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

std::span<const CheckWord> check_words() { return checks; }

Outcome<sim::check::Options> checks_of(const Options& options) {
  std::string text = options.check;
  if (text.empty()) text = options.command == Command::check ? "all" : "none";
  std::vector<std::string_view> words = split(text, ",");
  const size_t given = words.size();
  std::erase_if(words, always_on);
  if (words.empty() && given != 0) words = {"none"};
  std::string unknown;
  if (const auto named = sim::check::options_named(fmt::format("{}", fmt::join(words, ",")), &unknown))
    return *named;
  return user_error(fmt::format("there is no check `{}`", unknown),
                    "valid names: all, none, race, barrier, memory, numerics, fault, deadlock");
}

std::string coverage_text(const sim::check::Coverage& c) {
  std::string text = counted(c.accesses, "access");
  if (c.accesses != 1) text.insert(text.size() - 1, "e");
  text += ", " + counted(c.async_operations, "asynchronous operation");
  const uint64_t phases = c.forced_phases + c.unforced_phases;
  text += ", " + counted(phases, "mbarrier phase");
  if (phases != 0) text += fmt::format(" ({} % forced)", c.forced_phases * 100 / phases);
  return text + ", " + counted(c.barrier_generations, "barrier generation");
}

ExitCode code_of_findings(std::span<const SeenFinding> findings, bool strict) {
  const FindingCounts counts = count_findings(findings);
  if (counts.errors != 0 || (strict && counts.strict != 0)) return exit_findings;
  return counts.unknown + counts.unsupported != 0 ? exit_unsupported : exit_clean;
}

std::string command_line(const Options& options, std::string_view command,
                         std::span<const std::string_view> without, std::string_view more) {
  const std::string& program = program_name();
  std::string text = fmt::format("{} {}", is_plain(program) ? program : shell_quoted(program), command);
  for (size_t i = 0; i < options.words.size(); ++i) {
    const std::string& word = options.words[i];
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
