// A timeline file of a run: opened before the run, so that an invalid path fails early, and its result.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "isa/host/interrupt.h"
#include "isa/host/outcome.h"
#include "report/run/run.h"
#include "traces/open.h"
#include "traces/recorder.h"

namespace palladion::report {

class RunTrace {
 public:
  // `limit`: bytes of the file.
  static host::Outcome<std::unique_ptr<RunTrace>> open(const std::string& file, const traces::Header& header,
                                                       uint64_t limit,
                                                       const traces::RecorderOptions& options);
  sim::Observer* observer() { return &*recorder_; }
  // The scopes of the run, and of a device beside them, aligned at the start of the first warpgroup.
  void add_scopes(const traces::RunScopes* simulated, const traces::RunScopes* device);
  TraceReport finish();

 private:
  std::optional<host::Unfinished> unfinished_;  // while the file is written
  RunTrace(std::string file, std::unique_ptr<traces::Sink> sink, traces::RecorderOptions options);

  std::string file_;
  std::unique_ptr<traces::Sink> sink_;
  traces::TimeUnit unit_;
  std::optional<traces::Recorder> recorder_;
  uint64_t first_cta_, last_cta_;  // whose scopes are shown
  TraceReport report_;
};

}  // namespace palladion::report
