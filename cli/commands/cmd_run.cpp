#include "cli/commands/commands.h"
#include "cli/execute/execute.h"
#include "cli/support/interrupt.h"

namespace palladion::cli {

Outcome<ExitCode> cmd_run(const Options& options) {
  if (const auto ok = check_run_options(options); !ok) return tl::make_unexpected(ok.error());
  auto suppressions = suppressions_of(options);
  if (!suppressions) return tl::make_unexpected(suppressions.error());
  auto subject = load_subject(options);
  if (!subject) return tl::make_unexpected(subject.error());
  const Polled polled;
  auto report = execute(*subject, options, options.on != "device", options.on != "sim");
  if (!report) return tl::make_unexpected(report.error());
  report->command = "run";
  if (*suppressions) {
    suppress(report->findings, **suppressions, subject->ptx_name);
    report->unused_suppressions = unused_text(**suppressions);
  }
  return deliver(*subject, *report, options);
}

}  // namespace palladion::cli
