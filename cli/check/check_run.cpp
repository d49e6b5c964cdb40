#include "cli/check/check_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/support/output.h"
#include "cli/support/term.h"
#include "report/html/recording.h"
#include "report/run/check_text.h"
#include "report/text/row.h"

namespace palladion::cli {
namespace {

std::string counted_findings(size_t n) {
  return n == 0 ? "no findings" : fmt::format("{} finding{}", n, n == 1 ? "" : "s");
}

void print_trial(const verify::CheckReport& report) {
  const verify::Trial& trial = report.trials.back();
  const sim::RunResult& r = trial.outcome.result;
  std::string text = counted_findings(size_t(std::ranges::count_if(
      report.findings, [&](const SeenFinding& s) { return s.schedules.back() == trial.schedule; })));
  text += r.interrupted        ? ", interrupted"
          : !r.completed       ? ", not completed"
          : trial.same_outputs ? ", the same outputs"
                               : ", other outputs";
  print_out(row(trial.schedule, text));
}

std::string replay_command(const CheckRequest& request, std::string_view command, const std::string& more) {
  static constexpr std::string_view without[] = {"--explore", "--seeds", "--json",     "--sarif",  "--report",
                                                 "--limit",   "--check", "--schedule", "--threads"};
  return command_line(request.run.words, command, without, more);
}

// The command that shows what was first seen under this schedule.
std::string replay_of(const CheckRequest& request, const CheckReport& report, const std::string& schedule) {
  if (schedule == verify::code_generation) return {};  // every run of the command shows it
  if (schedule == exploration)
    return replay_command(
        request, "check",
        fmt::format("--explore {} --schedule {}", *request.explore, report.trials.front().schedule));
  const std::string checks = name(request.run.machine.checks);
  const auto trial = std::ranges::find(report.trials, schedule, &verify::Trial::schedule);
  // A hang is classified from several runs together.
  if (request.explore && trial->hangs_by_letter())
    return replay_command(request, "check", fmt::format("--check {} --explore {}", checks, *request.explore));
  return replay_command(request, "run", fmt::format("--check {} --schedule {}", checks, schedule));
}

ExitCode exit_code_of(const CheckReport& report, bool strict) {
  if (report.interrupted) return exit_interrupted;
  const ExitCode code = code_of_findings(report.findings, strict);
  if (code == exit_findings || report.wrong_outputs()) return exit_findings;
  if (code == exit_clean && report.hangs()) return exit_findings;
  return report.incomplete.empty() ? code : exit_unsupported;
}

// Comparisons are kept with their error maps.
std::vector<verify::OutputComparison> compare_and_keep(const Subject& subject, bool maps,
                                                       const std::vector<Array>& outputs,
                                                       std::vector<NamedComparison>& kept) {
  std::vector<verify::OutputComparison> out;
  auto compared = compare_with_reference(subject, outputs, maps);
  if (!compared) return out;
  for (NamedComparison& c : *compared) {
    out.push_back(c);
    kept.push_back(std::move(c));
  }
  return out;
}

}  // namespace

verify::CheckRequest engine_request(const Subject& subject, const CheckRequest& asked) {
  verify::CheckRequest request{.checks = asked.run.machine.checks,
                               .run = run_options(subject, asked.run.machine, asked.run.clock()),
                               .only = asked.run.conditions,
                               .seed = asked.run.subject.seed,
                               .explore = asked.explore};
  if (asked.seeds) request.random = *asked.seeds;
  return request;
}

Outcome<CheckReport> run_check(const Subject& subject, const CheckRequest& asked) {
  CheckReport report;
  verify::CheckRequest request = engine_request(subject, asked);
  report.page = page_recording(subject, asked.run);
  if (report.page)
    for (sim::Observer* observer : report.page->observers()) request.first.push_back(observer);
  if (asked.run.reference)
    request.compare = [&](const std::vector<Array>& outputs) {
      return compare_and_keep(subject, !asked.run.output.report.empty(), outputs, report.comparisons);
    };
  Progress progress(fmt::format("check {}", subject.name), request.only ? 1 : 3 + request.random);
  CodegenQuestion codegen(subject, asked.run.codegen);
  auto checked = verify::check(subject.job, *subject.arch, request,
                               {.stop = &interrupt_flag(), .step = [&](const verify::CheckReport& so_far) {
                                  progress.pause();
                                  progress.step();
                                  print_trial(so_far);
                                }});
  if (!checked) return failure_of(checked.error(), subject.job.ptx);
  static_cast<verify::CheckReport&>(report) = std::move(*checked);
  if (report.explored) {
    progress.pause();
    print_out(row(exploration, counted_findings(report.explored->findings.size())));
  }
  if (report.page) report.page->finish(nullptr);
  if (const auto taken = codegen.take(report.findings); !taken) return tl::make_unexpected(taken.error());
  judge(report);
  for (SeenFinding& seen : report.findings) seen.replay = replay_of(asked, report, seen.schedules.front());
  if (auto suppressions = asked.run.findings.suppressions) {
    suppress(report.findings, *suppressions, subject.ptx_name);
    report.unused_suppressions = unused_text(*suppressions);
    judge(report);
  }
  report.exit_code = exit_code_of(report, asked.run.findings.strict);
  return report;
}

void print_check(const Subject& subject, const CheckRequest& request, const CheckReport& report) {
  print_parts(check_text(launched(subject), report,
                         {.findings = view_of(subject, request.run.findings.limit, stderr),
                          .unused_suppressions = report.unused_suppressions,
                          .color = wants_color(stdout)}));
}

std::string check_json_of(const Subject& subject, const CheckRequest& request, const CheckReport& report) {
  return check_json(launched(subject), report,
                    {.seed = request.run.subject.seed,
                     .explore = request.explore.value_or(0),
                     .threads = request.run.machine.threads,
                     .exit_code = report.exit_code});
}

}  // namespace palladion::cli
