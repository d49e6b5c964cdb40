#include "report/run/redundant_text.h"

#include <fmt/format.h>

#include "report/run/mutation_text.h"
#include "report/run/run_json.h"
#include "report/run/run_text.h"
#include "report/text/scope.h"

namespace palladion::report {
namespace {

json::object redundancy_json(const Launched& launched, const verify::Redundancy& r) {
  return {{"operator", sim::check::name(r.mutant.mutation)},
          {"function", launched.job->module->functions[r.mutant.function].name},
          {"instruction", r.mutant.instruction},
          {"text", r.mutant.before},
          {"place", place(launched, r.mutant)},
          {"cycles_saved", r.cycles},
          {"scope", scope_name(r.scope)}};
}

}  // namespace

std::string redundant_text(const Launched& launched, const verify::RedundancyReport& report) {
  std::string text;
  for (const verify::Redundancy& r : report.redundant)
    text += fmt::format("  {:>8} cycles fewer  `{}` ({})\n{:27}for all schedules, {}\n", r.cycles,
                        r.mutant.before, place(launched, r.mutant), "", scope_name(r.scope));
  text += row("redundant", fmt::format("{} of {} can go, each by itself{}", report.redundant.size(),
                                       report.examined, report.interrupted ? "; interrupted" : ""));
  return text + row("cycles", fmt::format("{} as it is", report.cycles));
}

std::string redundant_json(const Launched& launched, const verify::RedundancyReport& report, uint64_t seed) {
  json::object out = {{"command", "check --redundant"}};
  append(out, launched_json(launched));
  const auto one = [&](const verify::Redundancy& r) { return redundancy_json(launched, r); };
  append(out, {{"seed", seed},
               {"interrupted", report.interrupted},
               {"examined", report.examined},
               {"cycles", report.cycles},
               {"redundant", array_of(report.redundant, one)}});
  return json_text(out);
}

}  // namespace palladion::report
