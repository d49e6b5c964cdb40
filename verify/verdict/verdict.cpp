#include "verify/verdict/verdict.h"

#include <fmt/format.h>

namespace palladion::verify {

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

}  // namespace palladion::verify
