#include "cli/check/redundant.h"

#include <fmt/format.h>

#include "cli/check/mutate.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "isa/host/interrupt.h"
#include "report/run/redundant_text.h"
#include "report/run/run_text.h"

namespace palladion::cli {
namespace {

tl::unexpected<Failure> no_redundancy(const verify::NoRedundancy& none, const Subject& subject) {
  using Why = verify::NoRedundancy::Why;
  if (none.why == Why::refused) return failure_of(none.errors, subject.job.ptx);
  if (none.why == Why::interrupted) return interruption("interrupted: nothing was deleted\n");
  return user_error(none.why == Why::not_right
                        ? "--redundant needs a program without errors, and this one has some"
                        : "--redundant needs a program that is decided for all schedules; this one is not",
                    fmt::format("`{} check` without --redundant says why", program_name()));
}

}  // namespace

Outcome<ExitCode> check_redundant(CheckRequest request) {
  take_small_shape(request.run.subject);
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
  print_out(redundant_text(launched(*subject), *report));
  Deliveries deliveries;
  deliveries.take(write_if_named(request.run.output.json, [&] {
    return redundant_json(launched(*subject), *report, request.run.subject.seed);
  }));
  return deliveries.code(report->interrupted ? exit_interrupted : exit_clean);
}

}  // namespace palladion::cli
