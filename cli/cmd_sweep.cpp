#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/sweep.h"
#include "cli/term.h"

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
