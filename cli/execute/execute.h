// One run of a subject, on the machine, on a device or on both; used by run, check, compare and sweep.
#pragma once

#include <cstdio>
#include <future>
#include <optional>
#include <span>
#include <vector>

#include "cli/runs/checks.h"
#include "cli/runs/run_request.h"
#include "cli/subjects/subject.h"
#include "isa/host/files.h"
#include "report/run/run.h"
#include "report/run/run_text.h"
#include "report/text/finding_text.h"
#include "report/text/suppress.h"
#include "verify/schedules/trial.h"

namespace palladion::cli {

// What a request says of every run. `clock`: of the hardware schedule; null: another one. It must outlive the
// result.
sim::RunOptions run_options(const Subject& subject, const MachineRequest& request,
                            const ClockSettings* clock);

// One run, with the checkers that were requested.
using MachineRun = verify::CheckedRun;
// Runs `job`, the subject's or a copy of it. `more`: other observers.
MachineRun run_on_machine(const Subject& subject, Job& job, const MachineRequest& request,
                          const sim::check::Conditions& conditions,
                          std::span<sim::Observer* const> more = {});
// What ptxas does to a subject's kernel, found while the kernel runs. Twins of the zoo show one mistake each,
// and are not examined.
class CodegenQuestion {
 public:
  // Both must outlive it.
  CodegenQuestion(const Subject& subject, verify::Codegen who);
  // Adds the findings, when they are there.
  Outcome<void> take(std::vector<SeenFinding>& findings);

 private:
  std::future<Outcome<std::vector<sim::Finding>>> answer_;
};
// Runs on one side or both, compares with the reference and the sides with each other.
Outcome<Report> execute(Subject& subject, const RunRequest& request);
// Against the kernel's reference; empty when it has none, nothing when Ctrl-C came first.
// `maps`: with an error map each.
std::optional<std::vector<NamedComparison>> compare_with_reference(const Subject& subject,
                                                                   const std::vector<Array>& outputs,
                                                                   bool maps = false);
std::vector<NamedComparison> compare_outputs(const Subject& subject, const std::vector<Array>& got,
                                             const std::vector<Array>& wanted, Tolerance tolerance,
                                             bool maps = false);
// How findings of this subject are shown on a stream.
FindingView view_of(const Subject& subject, size_t limit, std::FILE* stream);
ExitCode exit_code_of(const Report& report);
// To the streams that they belong to.
void print_parts(const std::vector<Part>& parts);
// What --report records of a run on the machine; null without it.
std::shared_ptr<PageRecording> page_recording(const Subject& subject, const RunRequest& request);
// The page of --report. `report`: the text of --json; `recording` may be null.
std::string page_of(const Subject& subject, const RunRequest& request, std::string report,
                    const PageRecording* recording, std::span<const SeenFinding> findings,
                    std::span<const NamedComparison* const> comparisons);
// Writes it, when it was asked for.
Outcome<void> write_page(const Subject& subject, const RunRequest& request, std::string report,
                         const PageRecording* recording, std::span<const SeenFinding> findings,
                         std::span<const NamedComparison* const> comparisons);
// --sarif, when it was given.
Outcome<void> write_sarif(const Subject& subject, const RunRequest& request,
                          std::span<const SeenFinding> findings, ExitCode code);
// A file that was asked for; empty: none was.
template <class Text>
Outcome<void> write_if_named(const std::string& file, Text text) {
  if (file.empty()) return {};
  const auto written = write_text(file, text());
  return written ? Outcome<void>{} : not_written(written.error());
}

// The files of a report, written after its text: one that fails is reported and keeps none of the others.
class Deliveries {
 public:
  // False when it failed.
  bool take(const Outcome<void>& written);
  // The same for --report, whose file is named.
  void take_page(const Outcome<void>& written, const std::string& file);
  ExitCode code(ExitCode of_report) const { return failed_ ? exit_not_written : of_report; }

 private:
  bool failed_ = false;
};

// Text, then output files, --sarif and --json; gives the exit code.
Outcome<ExitCode> deliver(const Subject& subject, Report& report, const RunRequest& request);

}  // namespace palladion::cli
