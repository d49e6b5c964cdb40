#include "cli/execute/execute.h"
#include "cli/options/command.h"
#include "isa/host/interrupt.h"

namespace palladion::cli {
namespace {

struct WordsOfRun : RunWords {
  WordsOfRun() : RunWords("run") {}
};

Outcome<ExitCode> run(RunRequest request) {
  auto subject = load_subject(request.subject, request.clock());
  if (!subject) return tl::make_unexpected(subject.error());
  const Polled polled;
  auto report = execute(*subject, request);
  if (!report) return tl::make_unexpected(report.error());
  if (auto& suppressions = request.findings.suppressions) {
    suppress(report->findings, *suppressions, subject->ptx_name);
    report->unused_suppressions = unused_text(*suppressions);
  }
  return deliver(*subject, *report, request);
}

}  // namespace

Command run_command() {
  return {"run", "run a kernel or a PTX file; compare a kernel's outputs with its reference",
          stated<WordsOfRun, run>};
}

}  // namespace palladion::cli
