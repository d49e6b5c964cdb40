#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/execute/differences.h"
#include "cli/execute/execute.h"
#include "cli/support/interrupt.h"

namespace palladion::cli {

Outcome<ExitCode> cmd_compare(const Options& options) {
  if (const auto ok = check_run_options(options); !ok) return tl::make_unexpected(ok.error());
  auto subject = load_subject(options);
  if (!subject) return tl::make_unexpected(subject.error());
  const Polled polled;
  // A bundle holds what the device left: no device is needed.
  if (subject->recorded && !subject->recorded->manifest.complete)
    return user_error(
        fmt::format("{}: the launch did not end while it was captured: there is nothing to compare with",
                    subject->name),
        "`run` and `check` replay it");
  auto report = execute(*subject, options, true, !subject->recorded);
  if (!report) return tl::make_unexpected(report.error());
  report->command = "compare";
  explain_differences(*subject, *report, options);
  return deliver(*subject, *report, options);
}

}  // namespace palladion::cli
