// --trace: a file that is opened before the run, so that an invalid path fails early, and its result.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/runs/run_request.h"
#include "report/run/scopes.h"
#include "cli/subjects/subject.h"
#include "isa/host/interrupt.h"
#include "report/run/run.h"
#include "traces/open.h"
#include "traces/recorder.h"

namespace palladion::cli {

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

}  // namespace palladion::cli
