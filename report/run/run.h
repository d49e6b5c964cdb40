// The result of a run as one value: text, JSON and page are made of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/json/document.h"
#include "report/run/time.h"
#include "report/text/findings.h"
#include "traces/scopes.h"
#include "verify/launch/runner.h"

namespace palladion::report {

class PageRecording;  // report/html/recording.h

struct NamedComparison {
  std::string output;
  pl::DType dtype = pl::DType::f32;
  Tolerance tolerance;
  Comparison comparison;
  std::string note;  // the first difference in other words; lines
  json::object map;  // error_map, for a page
};

// A timeline that was written to a file.
struct TraceReport {
  std::string file;
  std::string unit;  // "SM cycles"
  uint64_t events = 0, clusters = 0, bytes = 0;
  // Set when the file ended before the run: why, and at which time.
  std::string cut;
  uint64_t cut_at = 0;
  std::string scopes;  // a line each: both sides' times of a scope
  bool scopes_missing = false;
  uint64_t lost = 0;  // scopes' events that found no room in the kernel's buffer
};

struct Report {
  std::string command;  // "run", "compare"
  std::string schedule;
  uint64_t seed = 0;
  unsigned threads = 1;
  bool strict = false;  // findings of severity strict are errors

  std::optional<SimOutcome> sim;
  std::optional<TimeReport> time;       // of the clock, where it ran
  std::optional<TraceReport> trace;     // of the file, where one was written
  std::shared_ptr<PageRecording> page;  // for a page, where the machine ran
  std::optional<traces::RunScopes> device_scopes;
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
  int exit_code = 0;  // of the command
};

// Ctrl-C ended the run, its comparison or the questions of --why.
bool was_interrupted(const Report& report);
// Of the checks, where there were any.
Verdict verdict_of(const Report& report);

// The outputs that count: the machine's, else the device's.
const std::vector<Array>& outputs_of(const Report& report);
// Without values there are none.
bool computes_outputs(const Report& report);

std::string hash_text(const Array& array);  // 16 hexadecimal digits
std::vector<std::string> hash_texts(const std::vector<Array>& arrays);

}  // namespace palladion::report
