#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/execute/execute.h"
#include "cli/support/interrupt.h"
#include "cli/support/output.h"
#include "cli/support/term.h"
#include "cli/sweep/sweep.h"
#include "report/html/page.h"

namespace palladion::cli {
namespace {

Outcome<void> write_sweep_page(const SweepReport& report, const Options& options) {
  if (options.report.empty()) return {};
  PageParts page;
  page.title = report.spec->name + ", sweep";
  page.report = sweep_json(report, options);
  page.more = {{"folder", current_folder()}};
  const auto written = write_text(options.report, page_text(page));
  return written ? Outcome<void>{} : not_written(written.error());
}

}  // namespace

Outcome<ExitCode> cmd_sweep(const Options& options) {
  const Polled polled;
  const auto report = run_sweep(options);
  if (!report) return tl::make_unexpected(report.error());
  print_out(sweep_text(*report, options, wants_color(stdout)));
  Deliveries deliveries;
  deliveries.take(write_json(options, [&] { return sweep_json(*report, options); }));
  deliveries.take(write_sweep_page(*report, options));
  return deliveries.code(report->exit_code());
}

}  // namespace palladion::cli
