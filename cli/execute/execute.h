// One run of a subject, on the machine, on a device or on both; used by run, check, compare and sweep.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cli/findings/suppress.h"
#include "cli/options/clock_settings.h"
#include "cli/options/options.h"
#include "cli/report/report.h"
#include "cli/runs/checks.h"
#include "cli/support/files.h"
#include "verify/schedules/trial.h"

namespace palladion::cli {

// Refuses by name what this version cannot do, and words that do not exist.
Outcome<void> check_run_options(const Options& options);
Outcome<sim::Schedule> schedule_of(const Options& options);
// The complete value of --schedule.
Outcome<sim::check::Conditions> conditions_of(const Options& options);
unsigned host_threads(const Options& options);

// The clock's settings under the hardware schedule; none under another.
std::optional<ClockSettings> clock_of(const Options& options, const sim::Schedule& schedule);
// What the options say of every run. `clock` must outlive it.
sim::RunOptions run_options(const Subject& subject, const Options& options,
                            const std::optional<ClockSettings>& clock);

// One run, with the checkers that were requested.
using MachineRun = verify::CheckedRun;
// Runs `job`, the subject's or a copy of it. `more`: other observers.
MachineRun run_on_machine(const Subject& subject, Job& job, const Options& options,
                          const sim::check::Conditions& conditions,
                          std::span<sim::Observer* const> more = {});
// Runs on one side or both, compares with the reference and the sides with each other.
Outcome<Report> execute(Subject& subject, const Options& options, bool on_sim, bool on_device);
// Against the kernel's reference; empty when it has none, nothing when Ctrl-C came first.
// `maps`: with an error map each.
std::optional<std::vector<NamedComparison>> compare_with_reference(const Subject& subject,
                                                                   const std::vector<Array>& outputs,
                                                                   bool maps = false);
std::vector<NamedComparison> compare_outputs(const Subject& subject, const std::vector<Array>& got,
                                             const std::vector<Array>& wanted, Tolerance tolerance,
                                             bool maps = false);
// What --report records of a run on the machine; null without it.
std::shared_ptr<PageRecording> page_recording(const Subject& subject, const Options& options,
                                              const sim::Schedule& schedule);
// --report, when it was given. `report`: the text of --json; `recording` may be null.
Outcome<void> write_page(const Subject& subject, const Options& options, std::string report,
                         const PageRecording* recording, std::span<const SeenFinding> findings,
                         std::span<const NamedComparison* const> comparisons);
// --suppress, read and understood; nothing when it was not given.
Outcome<std::optional<Suppressions>> suppressions_of(const Options& options);
// --sarif, when it was given.
Outcome<void> write_sarif(const Subject& subject, const Options& options,
                          std::span<const SeenFinding> findings, ExitCode code);
// --json, when it was given.
template <class Text>
Outcome<void> write_json(const Options& options, Text text) {
  if (options.json.empty()) return {};
  const auto written = write_text(options.json, text());
  return written ? Outcome<void>{} : not_written(written.error());
}

// The files of a report, written after its text: one that fails is reported and keeps none of the others.
class Deliveries {
 public:
  // False when it failed.
  bool take(const Outcome<void>& written);
  ExitCode code(ExitCode of_report) const { return failed_ ? exit_not_written : of_report; }

 private:
  bool failed_ = false;
};

// Text, then output files, --sarif and --json; gives the exit code.
Outcome<ExitCode> deliver(const Subject& subject, Report& report, const Options& options);

}  // namespace palladion::cli
