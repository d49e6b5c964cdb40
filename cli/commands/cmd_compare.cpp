#include <fmt/format.h>

#include "cli/execute/execute.h"
#include "cli/options/command.h"
#include "isa/host/interrupt.h"
#include "verify/bundles/differences.h"

namespace palladion::cli {
namespace {

struct WordsOfCompare : RunWords {
  WordsOfCompare() : RunWords("compare") {}
};

void say_why(const Subject& subject, Report& report, const MachineRequest& machine) {
  if (!subject.recorded || !report.sim || !report.sim->result.completed) return;
  std::vector<verify::OutputComparison*> comparisons;
  for (NamedComparison& c : report.reference) comparisons.push_back(&c);
  verify::explain_differences({.recorded = *subject.recorded,
                               .job = subject.job,
                               .arch = *subject.arch,
                               .outcome = *report.sim,
                               .run = run_options(subject, machine, nullptr)},
                              comparisons);
}

Outcome<ExitCode> compare_sides(RunRequest request) {
  auto subject = load_subject(request.subject, request.clock());
  if (!subject) return tl::make_unexpected(subject.error());
  const Polled polled;
  // A bundle holds what the device left: no device is needed.
  if (subject->recorded && !subject->recorded->manifest.complete)
    return user_error(
        fmt::format("{}: the launch did not end while it was captured: there is nothing to compare with",
                    subject->name),
        "`run` and `check` replay it");
  request.device.on_sim = true;
  request.device.on_device = !subject->recorded;
  auto report = execute(*subject, request);
  if (!report) return tl::make_unexpected(report.error());
  say_why(*subject, *report, request.machine);
  return deliver(*subject, *report, request);
}

}  // namespace

Command compare_command() {
  return {"compare", "run on the machine and on a device and compare: bits, ulps, first mismatch",
          stated<WordsOfCompare, compare_sides>};
}

}  // namespace palladion::cli
