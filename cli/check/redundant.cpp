#include "cli/check/redundant.h"

#include <fmt/format.h>

#include "cli/check/mutate.h"
#include "cli/support/interrupt.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "report/run/run_json.h"
#include "report/run/run_text.h"
#include "report/text/scope.h"

namespace palladion::cli {
namespace {

tl::unexpected<Failure> no_redundancy(const verify::NoRedundancy& none, const Subject& subject) {
  using Why = verify::NoRedundancy::Why;
  if (none.why == Why::refused) return failure_of(none.errors, subject.job.ptx);
  if (none.why == Why::interrupted)
    return tl::make_unexpected(Failure{exit_interrupted, "interrupted: nothing was deleted\n"});
  return user_error(none.why == Why::not_right
                        ? "--redundant needs a program without errors, and this one has some"
                        : "--redundant needs a program that is decided for all schedules; this one is not",
                    fmt::format("`{} check` without --redundant says why", program_name()));
}

json::object redundancy_json(const Subject& subject, const verify::Redundancy& r) {
  return {{"operator", sim::check::name(r.mutant.mutation)},
          {"function", subject.program().functions[r.mutant.function].name},
          {"instruction", r.mutant.instruction},
          {"text", r.mutant.before},
          {"place", place(subject, r.mutant)},
          {"cycles_saved", r.cycles},
          {"scope", report::scope_name(r.scope)}};
}

}  // namespace

void print_redundant(const Subject& subject, const verify::RedundancyReport& report) {
  for (const verify::Redundancy& r : report.redundant)
    print_out("  {:>8} cycles fewer  `{}` ({})\n{:27}for all schedules, {}\n", r.cycles, r.mutant.before,
              place(subject, r.mutant), "", report::scope_name(r.scope));
  print_out(row("redundant", fmt::format("{} of {} can go, each by itself{}", report.redundant.size(),
                                         report.examined, report.interrupted ? "; interrupted" : "")));
  print_out(row("cycles", fmt::format("{} as it is", report.cycles)));
}

std::string redundant_json(const Subject& subject, const CheckRequest& request,
                           const verify::RedundancyReport& report) {
  json::object out = {{"command", "check --redundant"}};
  append(out, launched_json(launched(subject)));
  const auto one = [&](const verify::Redundancy& r) { return redundancy_json(subject, r); };
  append(out, {{"seed", request.run.subject.seed},
               {"interrupted", report.interrupted},
               {"examined", report.examined},
               {"cycles", report.cycles},
               {"redundant", array_of(report.redundant, one)}});
  return json_text(out);
}

Outcome<ExitCode> check_redundant(const CheckRequest& request) {
  auto subject = load_subject(request.run.subject, request.run.clock());
  if (!subject) return tl::make_unexpected(subject.error());
  print_out(launched_text(launched(*subject)));
  const Polled polled;
  std::optional<Progress> progress;
  const auto report =
      verify::find_redundant(subject->job, *subject->arch, engine_request(*subject, request),
                             {.stop = &interrupt_flag(), .step = [&](const verify::RedundancyStep& step) {
                                if (!progress) progress.emplace(subject->name, step.deletions);
                                progress->update(step.done);
                              }});
  if (!report) return no_redundancy(report.error(), *subject);
  progress.reset();
  print_redundant(*subject, *report);
  Deliveries deliveries;
  deliveries.take(
      write_if_named(request.run.output.json, [&] { return redundant_json(*subject, request, *report); }));
  return deliveries.code(report->interrupted ? exit_interrupted : exit_clean);
}

}  // namespace palladion::cli
