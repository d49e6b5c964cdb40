#include "report/run/run.h"

#include <fmt/format.h>

namespace palladion::report {

bool was_interrupted(const Report& report) {
  const bool asking_was_ended = report.time && report.time->why && report.time->why->interrupted;
  return report.reference_interrupted || asking_was_ended || (report.sim && report.sim->result.interrupted);
}

Verdict verdict_of(const Report& report) {
  if (was_interrupted(report)) return interrupted_verdict(report.findings);
  const Watched* const watched = report.watched ? &*report.watched : nullptr;
  Verdict verdict = verdict_of(report.findings, incomplete_reasons(report.sim->result, watched));
  verdict.scope.tried = 1;
  return verdict;
}

const std::vector<Array>& outputs_of(const Report& report) {
  static const std::vector<Array> none;
  if (report.sim) return report.sim->outputs;
  return report.device ? report.device->outputs : none;
}

bool computes_outputs(const Report& report) {
  return !report.time || report.time->values == sim::Values::full;
}

std::string hash_text(uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace palladion::report
