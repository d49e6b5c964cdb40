#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/execute/execute.h"
#include "cli/support/files.h"
#include "cli/support/term.h"
#include "cli/sweep/sweep.h"

namespace palladion::cli {

Outcome<ExitCode> cmd_sweep(const Options& options) {
  const auto report = run_sweep(options);
  if (!report) return tl::make_unexpected(report.error());
  fmt::print("{}", sweep_text(*report, options, wants_color(stdout)));
  if (!options.json.empty())
    if (const auto written = write_text(options.json, sweep_json(*report, options)); !written)
      return user_error(written.error());
  return report->exit_code();
}

}  // namespace palladion::cli
