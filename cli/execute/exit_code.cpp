// The exit code of a run.
#include <algorithm>

#include "cli/execute/execute.h"

namespace palladion::cli {
namespace {

ExitCode code_of_diagnostics(const isa::Diagnostics& diagnostics) {
  const bool unsupported_only = std::ranges::none_of(
      diagnostics, [](const isa::Diagnostic& d) { return d.severity == isa::Severity::error; });
  return unsupported_only ? exit_unsupported : exit_user_error;
}

ExitCode code_of_device(const isa::Diagnostics& errors) {
  const std::string& code = errors.front().code;
  if (code == "PLD8005" || code == "PLD8004" || code == "PLD8008") return exit_user_error;
  if (code == "PLD8006" || code == "PLD8007") return exit_findings;
  return exit_unsupported;  // no driver, no device, a driver that fails
}

ExitCode code_of_sim(const Report& report) {
  const sim::RunResult& result = report.sim->result;
  if (!result.errors.empty()) return code_of_diagnostics(result.errors);
  if (was_interrupted(report)) return exit_interrupted;
  if (const ExitCode code = code_of_findings(report.findings, report.strict); code != exit_clean) return code;
  if (!result.completed) return exit_findings;
  return report.watched && !report.watched->coverage.incomplete.empty() ? exit_unsupported : exit_clean;
}

}  // namespace

ExitCode exit_code_of(const Report& report) {
  if (report.sim)
    if (const ExitCode code = code_of_sim(report); code != exit_clean) return code;
  if (report.device && !report.device->errors.empty()) return code_of_device(report.device->errors);
  const auto bad = [](const NamedComparison& c) { return !c.comparison.ok(); };
  const bool differs =
      std::ranges::any_of(report.reference, bad) || std::ranges::any_of(report.device_against_sim, bad);
  return differs ? exit_findings : exit_clean;
}

}  // namespace palladion::cli
