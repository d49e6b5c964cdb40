// The result of a run: one value, printed as text and as JSON.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/findings/finding_text.h"
#include "cli/report/time_report.h"
#include "cli/report/trace.h"
#include "cli/runs/checks.h"
#include "cli/subjects/subject.h"
#include "cli/support/json.h"
#include "verify/launch/outputs.h"
#include "verify/launch/runner.h"

namespace palladion::cli {

class PageRecording;  // cli/html/recording.h

struct NamedComparison : verify::OutputComparison {
  json::object map = {};  // error_map, for --report
};

struct Report {
  std::string command;  // "run", "compare"
  std::string schedule;
  uint64_t seed = 0;
  unsigned threads = 1;
  bool strict = false;  // findings of severity strict are errors

  std::optional<SimOutcome> sim;
  std::optional<TimeReport> time;       // of the clock, where it ran
  std::optional<TraceReport> trace;     // --trace
  std::shared_ptr<PageRecording> page;  // --report, where the machine ran
  std::optional<RunScopes> device_scopes;
  std::vector<SeenFinding> findings;  // of the machine and its checkers
  std::optional<Watched> watched;     // none without checkers
  std::string unused_suppressions;    // a warning a line
  std::optional<DeviceOutcome> device;
  std::optional<cuda::native::DeviceFacts> device_facts;
  // Of the machine's outputs, of the device's when only that ran. Empty: there is no reference, or nothing
  // to compare.
  std::vector<NamedComparison> reference;
  std::vector<NamedComparison> device_against_sim;
  std::vector<std::pair<std::string, std::string>> written;  // output, file

  bool reference_interrupted = false;  // by Ctrl-C
  double reference_seconds = 0;
  ExitCode exit_code = exit_clean;
};

ExitCode exit_code_of(const Report& report);
// Ctrl-C ended the run, its comparison or the questions of --why.
bool was_interrupted(const Report& report);
// Of the checks, where there were any.
Verdict verdict_of(const Report& report);

// The outputs that count: the machine's, else the device's.
const std::vector<Array>& outputs_of(const Report& report);
// Without values there are none.
bool computes_outputs(const Report& report);

// Findings and errors go to stderr, the rest to stdout.
void print_report(const Subject& subject, const Report& report, const Options& options);
// Two runs of the same thing differ in the member "wall" alone.
std::string json_report(const Subject& subject, const Report& report);

// ---- pieces that other commands use ----------------------------------------------------------------
// "launch      grid 132, block 384, ..." with the label in its column.
std::string row(std::string_view label, std::string_view text);
// The title and the rows launch, in.
std::string describe_subject(const Subject& subject);
// "equal bit by bit (262144 elements)", "3 of 64 elements differ, at most 2 ulps; first at [1,2]: ..."
std::string describe_comparison(const verify::OutputComparison& c);
std::string hash_text(uint64_t hash);       // 16 hexadecimal digits
std::string dims_text(const isa::Dim3& d);  // "132", "8x16", "2x2x2"
std::string current_folder();               // empty when it is unknown
// How findings of this subject are shown on a stream.
FindingView view_of(const Subject& subject, const Options& options, std::FILE* stream);
std::string verdict_text(const Verdict& verdict, bool color);  // "incomplete (the run was interrupted)"

json::object subject_json(const Subject& subject);  // its members: every report has them
json::object comparison_json(const verify::OutputComparison& named, std::string_view schedule = {});
json::object coverage_json(const Watched& watched);
json::object verdict_json(const Verdict& verdict);  // two members
json::array diagnostics_json(const isa::Diagnostics& diagnostics);
json::array outputs_json(const Subject& subject, const std::vector<Array>& outputs);

}  // namespace palladion::cli
