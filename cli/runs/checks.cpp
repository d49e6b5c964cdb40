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
