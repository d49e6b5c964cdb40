#include <fmt/format.h>

#include "cli/check/check_run.h"
#include "cli/check/mutate.h"
#include "cli/support/interrupt.h"
#include "cli/support/output.h"

namespace palladion::cli {
namespace {

Outcome<void> write_check_page(const Subject& subject, const Options& options, const CheckReport& report) {
  if (options.report.empty()) return {};
  std::vector<const NamedComparison*> comparisons;
  for (const NamedComparison& c : report.comparisons) comparisons.push_back(&c);
  return write_page(subject, options, check_json(subject, options, report), report.page.get(),
                    report.findings, comparisons);
}

}  // namespace

Outcome<ExitCode> cmd_check(const Options& options) {
  if (const auto ok = check_run_options(options); !ok) return tl::make_unexpected(ok.error());
  if (options.on != "sim") return user_error("checks run on the simulator alone");
  if (options.mutate && !options.report.empty())
    return user_error("--report shows one program; --mutate runs many: --json lists them");
  if (options.mutate) return check_by_mutation(options);
  auto subject = load_subject(options);
  if (!subject) return tl::make_unexpected(subject.error());
  print_out(describe_subject(*subject));
  const Polled polled;
  const auto report = run_check(*subject, options);
  if (!report) return tl::make_unexpected(report.error());
  print_check(*subject, options, *report);
  Deliveries deliveries;
  deliveries.take(write_sarif(*subject, options, report->findings, report->exit_code));
  deliveries.take(write_json(options, [&] { return check_json(*subject, options, *report); }));
  deliveries.take(write_check_page(*subject, options, *report));
  return deliveries.code(report->exit_code);
}

}  // namespace palladion::cli
