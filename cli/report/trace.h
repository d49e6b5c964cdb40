// --trace: a file that is opened before the run, so that an invalid path fails early, and its result.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/runs/run_request.h"
#include "cli/runs/scopes.h"
#include "cli/subjects/subject.h"
#include "cli/support/interrupt.h"
#include "traces/open.h"
#include "traces/recorder.h"

namespace palladion::cli {

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

class RunTrace {
 public:
  // Null without --trace.
  static Outcome<std::unique_ptr<RunTrace>> open(const Subject& subject, const RunRequest& request);
  sim::Observer* observer() { return &*recorder_; }
  // The scopes of the run, and of a device beside them, aligned at the start of the first warpgroup.
  void add_scopes(const RunScopes* simulated, const RunScopes* device);
  TraceReport finish();

 private:
  std::optional<Unfinished> unfinished_;  // while the file is written
  RunTrace(std::string file, std::unique_ptr<traces::Sink> sink, traces::RecorderOptions options);

  std::string file_;
  std::unique_ptr<traces::Sink> sink_;
  traces::TimeUnit unit_;
  std::optional<traces::Recorder> recorder_;
  uint64_t first_cta_, last_cta_;  // whose scopes are shown
  TraceReport report_;
};

// Which CTAs and cycles --trace and --report record.
traces::RecorderOptions recorder_options(const RunRequest& request);
// The header of a timeline: its title, unit and clock.
traces::Header trace_header(const Subject& subject, const RunRequest& request,
                            const traces::RecorderOptions& recorded);

// "x.pftrace: 2315 events of 1 cluster, 56 KiB"
std::string describe(const TraceReport& trace);
// "warning: ..." when the trace ended early; empty otherwise.
std::string warning(const TraceReport& trace);

}  // namespace palladion::cli
